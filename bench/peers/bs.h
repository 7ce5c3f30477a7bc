/* Black-Scholes in the common subset of C, OpenCL C and ISPC, so that every peer does the
   same arithmetic. The includer defines FN, INT, FLT, AS_INT, AS_FLOAT, FLOOR, SQRT and ABS.
   exp is good for |x| < 87, log for positive normal numbers; both to about 1e-7. */
FN float bs_exp(float x) {
    float n = FLOOR(x * 1.44269504f + 0.5f);
    x = x - n * 0.693359375f;
    x = x + n * 2.12194440e-4f;
    float p = 1.9875691e-4f;
    p = p * x + 1.3981999e-3f;
    p = p * x + 8.3334519e-3f;
    p = p * x + 4.1665795e-2f;
    p = p * x + 1.6666665e-1f;
    p = p * x + 0.5f;
    return (p * x * x + x + 1.0f) * AS_FLOAT((INT(n) + 127) << 23);
}

FN float bs_log(float x) {
    int bits = AS_INT(x) - 0x3f3504f3; /* split x = 2^e * m, m in [sqrt(1/2), sqrt(2)) */
    float e = FLT(bits >> 23);
    float f = AS_FLOAT((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
    float p = 7.0376836e-2f;
    p = p * f - 1.1514610e-1f;
    p = p * f + 1.1676998e-1f;
    p = p * f - 1.2420140e-1f;
    p = p * f + 1.4249322e-1f;
    p = p * f - 1.6668057e-1f;
    p = p * f + 2.0000714e-1f;
    p = p * f - 2.4999994e-1f;
    p = p * f + 3.3333331e-1f;
    float z = f * f;
    return f - 0.5f * z + f * z * p + e * 0.69314718f;
}

FN float bs_cnd(float d) { /* cumulative normal: Abramowitz and Stegun 26.2.17 */
    float k = 1.0f / (1.0f + 0.2316419f * ABS(d));
    float p = 1.330274429f;
    p = p * k - 1.821255978f;
    p = p * k + 1.781477937f;
    p = p * k - 0.356563782f;
    p = p * k + 0.319381530f;
    float c = 0.39894228f * bs_exp(-0.5f * d * d) * (p * k);
    return d > 0.0f ? 1.0f - c : c;
}

/* call price; put = call - s + k * exp(-r t) */
FN float bs_call(float s, float k, float t, float disc) {
    float vt = VOLATILITY * SQRT(t);
    float d1 = (bs_log(s / k) + (RISKFREE + 0.5f * VOLATILITY * VOLATILITY) * t) / vt;
    return s * bs_cnd(d1) - k * disc * bs_cnd(d1 - vt);
}
