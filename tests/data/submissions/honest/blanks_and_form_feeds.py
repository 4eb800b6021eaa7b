from gpukit import cuda   

 
@cuda.jit    
def compact_kernel(x, ends, out):   
    i = cuda.grid(1)  

    if i < x.size:   
        if x[i] > 0.0:    
            out[ends[i] - 1] = x[i]	 
  
    
