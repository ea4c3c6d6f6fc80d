package bmp280

import "sort"

// top is the largest raw value of 20 bits.
const top = 1<<20 - 1

// calibration is dig_T1 to dig_T3 and dig_P1 to dig_P9 of the worked example, as they stand from 0x88 on: section 3.12.
var calibration = [12]int{27504, 26435, -1000, 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000}

// fine returns t_fine, 5,120 to a degree Celsius: section 8.1.
func fine(rawT int) float64 {
	t1, t2, t3 := float64(calibration[0]), float64(calibration[1]), float64(calibration[2])
	linear := (float64(rawT)/16384 - t1/1024) * t2
	curve := float64(rawT)/131072 - t1/8192
	return linear + curve*curve*t3
}

// pascal returns the pressure of raw values: section 8.1.
func pascal(rawP, rawT int) float64 {
	var p [10]float64
	for i := 1; i < len(p); i++ {
		p[i] = float64(calibration[2+i])
	}
	t := fine(rawT)/2 - 64000
	offset := (t*t*p[6]/32768+t*p[5]*2)/4 + p[4]*65536
	sensitivity := (1 + (p[3]*t*t/524288+p[2]*t)/524288/32768) * p[1]
	x := (1048576 - float64(rawP) - offset/4096) * 6250 / sensitivity
	return x + (p[9]*x*x/2147483648+x*p[8]/32768+p[7])/16
}

// searchTemperature returns the raw value whose compensation comes nearest to a temperature from below.
func searchTemperature(celsius float64) int {
	return max(sort.Search(top, func(raw int) bool { return fine(raw+1)/5120 > celsius }), 0)
}

// searchPressure does the same for a pressure in hPa, which falls with the raw value.
func searchPressure(hPa float64, rawT int) int {
	return sort.Search(top, func(raw int) bool { return pascal(raw, rawT) <= hPa*100 })
}
