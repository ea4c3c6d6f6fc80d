# Another name that programs know the sensor by.
from mpu6050 import MPU6050, Vector3d
