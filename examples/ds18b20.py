# Every DS18B20 on the one-wire line.
import machine, onewire, ds18x20, time

ow = onewire.OneWire(machine.Pin(9))
ds = ds18x20.DS18X20(ow)
roms = ds.scan()
print("found", len(roms))
ds.convert_temp()
time.sleep_ms(750)
for rom in roms:
    t = ds.read_temp(rom)
    print(t)
    event_push("ds18b20", {"rom": "".join("%02x" % b for b in rom), "t": t})
