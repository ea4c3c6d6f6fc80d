# Read and write registers of a Modbus RTU slave on UART 1.
from machine import UART
import time

uart = UART(1, 9600, tx=17, rx=18, timeout=300)


def crc16(data):
    crc = 0xFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def transact(pdu, slave=1):
    frame = bytes([slave]) + pdu
    c = crc16(frame)
    uart.write(frame + bytes([c & 0xFF, c >> 8]))
    time.sleep_ms(20)
    answer = uart.read()
    if not answer or len(answer) < 5 or crc16(answer) != 0:
        raise OSError("modbus frame")
    if answer[1] & 0x80:
        raise OSError("modbus exception %d" % answer[2])
    return answer[1:-2]


transact(b"\x06\x00\x02\x12\x34")
data = transact(b"\x03\x00\x00\x00\x03")
registers = [data[2 + i] << 8 | data[3 + i] for i in range(0, data[1], 2)]
print([hex(r) for r in registers])
event_push("modbus", registers)
