from machine import ADC, I2C, PWM, SPI, UART, Pin, RTC, Timer

i2c = I2C(0)
spi = SPI(1)
uart = UART(1)
pwm = PWM(Pin(16))
tries = (
    lambda: i2c.writeto(0x80, b"x"),
    lambda: i2c.writeto(-1, b"x"),
    lambda: i2c.writeto(1 << 40, b"x"),
    lambda: i2c.readfrom(0x38, -1),
    lambda: i2c.readfrom(0x38, 1 << 30),
    lambda: i2c.readfrom_mem(0x68, 0, 1, addrsize=7),
    lambda: i2c.writeto(0x38, 5.0),
    lambda: I2C(0, freq=0),
    lambda: I2C(0, freq=-5),
    lambda: I2C(9),
    lambda: SPI(1, baudrate=0),
    lambda: SPI(1, polarity=3),
    lambda: spi.read(-1),
    lambda: UART(1, baudrate=-9600),
    lambda: UART(1, bits=3),
    lambda: pwm.freq(0),
    lambda: pwm.freq(-1),
    lambda: pwm.duty_u16(70000),
    lambda: pwm.duty_u16(-1),
    lambda: pwm.duty_u16(0.5),
    lambda: PWM(Pin(16), freq=1e9),
    lambda: Timer(0, period=0, callback=print),
    lambda: Timer(0, period=-5, callback=print),
    lambda: Pin(1 << 40),
    lambda: Pin(5, 77),
    lambda: ADC(5),
)
refused = 0
for i, f in enumerate(tries):
    try:
        f()
        print("accepted", i)
    except (ValueError, TypeError, OSError, OverflowError, MemoryError):
        refused += 1
print("refused", refused)
