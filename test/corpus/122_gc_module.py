# micropython-only
import gc

gc.collect()
print(gc.isenabled(), gc.mem_alloc() > 0, gc.mem_free() > 0)
gc.disable()
print(gc.isenabled())
gc.enable()
before = gc.mem_alloc()
keep = [bytearray(100) for _ in range(50)]
print(gc.mem_alloc() - before >= 5000, len(keep))
