#!/usr/bin/env python
# coding: utf-8

# # Homework 2
#
# By Carol.

# In[1]:


get_ipython().run_line_magic('load_ext', 'gpukit')
get_ipython().run_line_magic('matplotlib', 'inline')
import numpy as np
from gpukit import cuda


# In[2]:


get_ipython().system('nvidia-smi')


# In[3]:


@cuda.jit
def fahrenheit_kernel(celsius, fahrenheit):
    i = cuda.grid(1)
    if i < celsius.size:
        fahrenheit[i] = np.float32(9) / np.float32(5) * celsius[i] + np.float32(32)


# In[ ]:


get_ipython().run_cell_magic('time', '', 'fahrenheit_kernel[1, 32](x, y)\n')
