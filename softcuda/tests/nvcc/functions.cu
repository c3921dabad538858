/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Device functions that C++ does not have: operations on parts of a word, rounding modes, and
 * special functions.
 */
#include "expect.h"

#include <math.h>

__global__ void bytes(unsigned *out, unsigned a, unsigned b)
{
    const unsigned results[] = {
        __vadd4(a, b),    __vsub4(a, b),    __vaddss4(a, b),    __vaddus4(a, b),
        __vsubss4(a, b),  __vsubus4(a, b),  __vabsdiffu4(a, b), __vabsdiffs4(a, b),
        __vabs4(a),       __vabsss4(a),     __vneg4(a),         __vnegss4(a),
        __vavgs4(a, b),   __vavgu4(a, b),   __vhaddu4(a, b),    __vmaxs4(a, b),
        __vmaxu4(a, b),   __vmins4(a, b),   __vminu4(a, b),     __vsads4(a, b),
        __vsadu4(a, b),   __vcmpeq4(a, b),  __vcmpne4(a, b),    __vcmpgtu4(a, b),
        __vcmpgts4(a, b), __vcmpltu4(a, b), __vcmplts4(a, b),   __vcmpgeu4(a, b),
        __vcmpges4(a, b), __vcmpleu4(a, b), __vcmples4(a, b),   __vseteq4(a, b),
        __vsetgts4(a, b)};
    for (unsigned i = 0; i < sizeof(results) / sizeof(*results); i++)
        out[i] = results[i];
}

__global__ void halves(unsigned *out, unsigned a, unsigned b)
{
    const unsigned results[] = {__vadd2(a, b),           __vmaxs2(a, b),  __vmaxu2(a, b),
                                __vabs2(0x8000ffff),     __vsadu2(a, b),  __vabsss2(0x8000ffff),
                                __vavgs2(0xfffd0003, 0), __vcmplts2(a, b)};
    for (unsigned i = 0; i < sizeof(results) / sizeof(*results); i++)
        out[i] = results[i];
}

static void test_parts()
{
    const unsigned of_bytes[] = {
        0x81fe80ff, 0x7f0082ff, 0x81fe7fff, 0x81ff80ff, 0x8000827f, 0x7f000000, 0x7f007e01,
        0x81007eff, 0x8001017f, 0x7f01017f, 0x8001ff81, 0x7f01ff81, 0xc0ff40ff, 0x41ff4080,
        0x40ff407f, 0x01ff7f7f, 0x80ff7f80, 0x80ff0180, 0x01ff017f, 510,        254,
        0x00ff0000, 0xff00ffff, 0xff000000, 0x000000ff, 0x0000ffff, 0xff00ff00, 0xffff0000,
        0x00ff00ff, 0x00ffffff, 0xffffff00, 0x00010000, 0x00000001};
    const unsigned of_halves[] = {0x00010003, 0x00020002, 0xffff0002, 0x80000001,
                                  0xfffe,     0x7fff0001, 0xfffe0002, 0xffffffff};
    numbers<unsigned> out(64);
    bytes<<<1, 1>>>(out.device, 0x80ff017f, 0x01ff7f80);
    out.fetch();
    for (int i = 0; i < 33; i++)
        EXPECT(out[i] == of_bytes[i], "%08x, expected %08x at %d", out[i], of_bytes[i], i);
    halves<<<1, 1>>>(out.device, 0xffff0001, 0x00020002);
    out.fetch();
    for (int i = 0; i < 8; i++)
        EXPECT(out[i] == of_halves[i], "%08x, expected %08x at %d", out[i], of_halves[i], i);
}

/* The results rounded towards 0, up and down. */
#define ROUNDED(name, ...)                                                                         \
    *out++ = __##name##_rz(__VA_ARGS__), *out++ = __##name##_ru(__VA_ARGS__),                      \
    *out++ = __##name##_rd(__VA_ARGS__)

__global__ void round_all(double *out, float one, float three, double d)
{
    ROUNDED(fadd, one, 1e-10f);
    ROUNDED(fsub, -one, 1e-10f);
    ROUNDED(fmul, one + 0x1p-23f, one + 0x1p-23f);
    ROUNDED(fdiv, -one, three);
    ROUNDED(fmaf, one, one, -1e-10f);
    ROUNDED(frcp, three);
    ROUNDED(fsqrt, three);
    ROUNDED(dadd, d, 1e-20);
    ROUNDED(ddiv, d, 3.0);
    ROUNDED(fma, d, d, -1e-20);
    ROUNDED(int2float, -0x1000001);
    ROUNDED(uint2float, 0xffffffffu);
    ROUNDED(ll2float, 0x1000001ll);
    ROUNDED(ull2double, 0xffffffffffffffffull);
    ROUNDED(double2float, d / 3);
}

static void test_rounding()
{
    const double up = 1 + 0x1p-23, down = 1 - 0x1p-24, low = 0x1.555554p-2, high = 0x1.555556p-2;
    const double wanted[][3] = {{1, up, 1},
                                {-1, -1, -up},
                                {1 + 0x1p-22, 1 + 0x1p-22 + 0x1p-23, 1 + 0x1p-22},
                                {-low, -low, -high},
                                {down, 1, down},
                                {low, high, low},
                                {0x1.bb67aep0, 0x1.bb67bp0, 0x1.bb67aep0},
                                {1, 1 + 0x1p-52, 1},
                                {0x1.5555555555555p-2, 0x1.5555555555556p-2, 0x1.5555555555555p-2},
                                {1 - 0x1p-53, 1, 1 - 0x1p-53},
                                {-0x1p24, -0x1p24, -0x1.000002p24},
                                {0x1.fffffep31, 0x1p32, 0x1.fffffep31},
                                {0x1p24, 0x1.000002p24, 0x1p24},
                                {0x1.fffffffffffffp63, 0x1p64, 0x1.fffffffffffffp63},
                                {low, high, low}};
    numbers<double> out(48);
    round_all<<<1, 1>>>(out.device, 1.0f, 3.0f, 1.0);
    out.fetch();
    for (int i = 0; i < 45; i++)
        EXPECT(out[i] == wanted[i / 3][i % 3], "%a, expected %a at %d, %d", out[i],
               wanted[i / 3][i % 3], i / 3, i % 3);
    EXPECT(1.0f + (float)out[0] * 0x1p-24f == 1.0f, "%s", "the rounding mode has changed");
}

/* Pairs of a result and the wanted value. */
__global__ void special(double (*out)[2], double (*of_floats)[2])
{
    const double sides[] = {2, 3, 6, 24};
    const float short_sides[] = {2, 3, 6, 24};
    const double results[][2] = {{erfinv(0.5), 0.4769362762044698733814},
                                 {erfinv(0.001), 0.000886227157466552123},
                                 {erfinv(-0.999999), -3.4589107372754987775324},
                                 {erfinv(0.3), 0.2724627147267543450247},
                                 {erfcinv(1e-10), 4.5728249673894852748466},
                                 {erfcinv(0.3), 0.7328690779592168690538},
                                 {erfcinv(1.9), -1.1630871536766737822549},
                                 {erfcx(0.5), 0.6156903441929258748708},
                                 {erfcx(-2.0), 108.9409043899779724123554},
                                 {erfcx(6.0), 0.0927765678005383543895},
                                 {erfcx(9.5), 0.059064678352563890854},
                                 {erfcx(20.0), 0.028174348741051319318649},
                                 {cyl_bessel_i0(1.0), 1.26606587775200833559824},
                                 {cyl_bessel_i1(1.0), 0.565159103992485027207696},
                                 {cyl_bessel_i0(-30.0), 781672297823.977489717389},
                                 {cyl_bessel_i1(-30.0), -768532038938.956999494294},
                                 {normcdf(-1.5), 0.066807201268858066004},
                                 {normcdfinv(0.975), 1.959963984540053855604430},
                                 {norm3d(2.0, 3.0, 6.0), 7},
                                 {norm4d(2.0, 3.0, 6.0, 24.0), 25},
                                 {norm(4, sides), 25},
                                 {rnorm(4, sides), 0.04},
                                 {rnorm3d(2.0, 3.0, 6.0), 1 / 7.0}};
    const double floats[][2] = {{erfinvf(0.5f), 0.47693628f},
                                {erfinv(0.5f), 0.47693628f},
                                {erfcinvf(1.5f), -0.47693628f},
                                {erfcxf(20.0f), 0.028174349f},
                                {cyl_bessel_i0f(1), 1.26606588f},
                                {cyl_bessel_i1f(30.0f), 768532038938.957f},
                                {normcdff(-1.5f), 0.0668072013f},
                                {normcdfinvf(0.5f), 0},
                                {norm3df(2, 3, 6), 7},
                                {normf(4, short_sides), 25},
                                {rnormf(4, short_sides), 0.04f}};
    memcpy(out, results, sizeof(results));
    memcpy(of_floats, floats, sizeof(floats));
}

__global__ void limits(double *out)
{
    const double results[] = {erfinv(1.0), erfcinv(2.0), erfinv(1.5), erfcx(-30.0),
                              cyl_bessel_i1(-900.0)};
    memcpy(out, results, sizeof(results));
}

static void test_special()
{
    numbers<double[2]> out(23), floats(11);
    numbers<double> ends(5);
    special<<<1, 1>>>(out.device, floats.device);
    limits<<<1, 1>>>(ends.device);
    out.fetch();
    floats.fetch();
    ends.fetch();
    for (int i = 0; i < 23; i++)
        EXPECT(fabs(out[i][0] - out[i][1]) <= 2e-15 * fabs(out[i][1]),
               "%.17g, expected %.17g at %d", out[i][0], out[i][1], i);
    for (int i = 0; i < 11; i++)
        EXPECT(floats[i][0] == floats[i][1], "%.9g, expected %.9g at %d", floats[i][0],
               floats[i][1], i);
    EXPECT(ends[0] == INFINITY && ends[1] == -INFINITY && isnan(ends[2]) && ends[3] == INFINITY &&
               ends[4] == -INFINITY,
           "%g %g %g %g %g", ends[0], ends[1], ends[2], ends[3], ends[4]);
}

__global__ void integers(int *out, int i)
{
    __builtin_assume(i < 0);
    __prof_trigger(0);
    out[0] = __hadd(i, -4);
    out[1] = __rhadd(i, -4);
    out[2] = (int)__uhadd(0xffffffffu, 0xfffffffeu);
    out[3] = (int)__urhadd(0xffffffffu, 0xfffffffeu);
    out[4] = __rhadd(0x7fffffff, 0x7fffffff);
}

int main()
{
    test_parts();
    test_rounding();
    test_special();
    numbers<int> out(5);
    integers<<<1, 1>>>(out.device, -7);
    out.fetch();
    EXPECT(out[0] == -6 && out[1] == -5 && out[2] == -2 && out[3] == -1 && out[4] == 0x7fffffff,
           "%d %d %d %d %d", out[0], out[1], out[2], out[3], out[4]);
    return 0;
}
