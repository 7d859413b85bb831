// replaced by the layer's own files
