# A PID loop on a simulated heater settles near its goal.
class PID:
    def __init__(self, kp, ki, kd, low, high):
        self.k, self.low, self.high = (kp, ki, kd), low, high
        self.total, self.last = 0.0, None

    def step(self, error, dt):
        kp, ki, kd = self.k
        slope = 0 if self.last is None else (error - self.last) / dt
        self.last = error
        out = kp * error + ki * (self.total + error * dt) + kd * slope
        if self.low < out < self.high:
            self.total += error * dt
        return max(self.low, min(self.high, out))

temp, peak, pid = 20.0, 20.0, PID(8.0, 0.4, 2.0, 0, 100)
for t in range(301):
    power = pid.step(60 - temp, 0.5)
    temp += (power * 0.02 - (temp - 20) * 0.01) * 0.5
    peak = max(peak, temp)
    if t % 60 == 0:
        print(t, "%.2f" % temp, "%.1f" % power)
print(peak < 63, abs(temp - 60) < 0.5)
