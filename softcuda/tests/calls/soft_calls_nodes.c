/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parameters of the nodes of graphs. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030

/* The parameters of struct scale in soft_kernels.cu. */
struct factor {
    unsigned char factor;
    double rest;
};

/*
 * The graph has one node of each type. The first nodes fill `a`, copy from one of `words` to `b`,
 * call a host function and run a kernel that writes `c`. The values of the nodes depend on a
 * number.
 */
static struct nodes {
    CUdeviceptr words[2];
    CUmodule module;
    CUfunction kernel;
    unsigned calls[8];
    CUgraphNode fill, copy, host, launch, embedded, record, wait, empty;
} n;

static CUdeviceptr kernel_out;
static struct factor kernel_factor;
static void *kernel_params[] = {&kernel_out, &kernel_factor};

static CUDA_KERNEL_NODE_PARAMS launch_with(unsigned value)
{
    kernel_out = g.c;
    kernel_factor.factor = (unsigned char)value;
    return (CUDA_KERNEL_NODE_PARAMS){.func = n.kernel,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = kernel_params};
}

static CUDA_MEMSET_NODE_PARAMS fill_with(unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = g.a, .elementSize = 1, .value = value, .width = SIZE, .height = 1};
}

static CUDA_MEMCPY3D copy_of(unsigned value)
{
    return copy_params(g.b, n.words[value % 2]);
}

static CUDA_HOST_NODE_PARAMS call_with(unsigned value)
{
    return (CUDA_HOST_NODE_PARAMS){.fn = add_to, .userData = &n.calls[value]};
}

/* Parameters for the calls that take a node of any type. */
static CUgraphNodeParams any_params(CUgraphNodeType type, unsigned value)
{
    CUgraphNodeParams any = {.type = type};
    const CUDA_KERNEL_NODE_PARAMS launch = launch_with(value);
    const CUDA_MEMSET_NODE_PARAMS fill = fill_with(value);
    const CUDA_HOST_NODE_PARAMS call = call_with(value);
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&any.kernel, &launch, sizeof(launch));
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        any.memcpy.copyParams = copy_of(value);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&any.memset, &fill, sizeof(fill));
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        memcpy(&any.host, &call, sizeof(call));
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        any.graph.graph = g.other;
        break;
    default:
        any.eventRecord.event = value ? g.join : g.event;
    }
    return any;
}

static CUgraphNode add_any(CUgraphNodeType type)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams any = any_params(type, 0);
    CUgraphNodeType got = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    DRV(cuGraphAddNode_v2, (&node, g.graph, NULL, NULL, 0, &any));
    READS(got, type, cuGraphNodeGetType, (node, &got));
    return node;
}

static void create_nodes(void)
{
    if (!gr_cuda_is_software())
        return;
    memset(&n, 0, sizeof(n));
    for (int i = 0; i < 2; i++) {
        CU(MemAlloc(&n.words[i], SIZE));
        CU(MemsetD8Async(n.words[i], (unsigned char)(0x50 + i), SIZE, fx.stream));
    }
    CU(StreamSynchronize(fx.stream));
    n.module = new_module();
    n.kernel = function_of(n.module, "add_counters");
    n.fill = add_any(CU_GRAPH_NODE_TYPE_MEMSET);
    n.copy = add_any(CU_GRAPH_NODE_TYPE_MEMCPY);
    n.host = add_any(CU_GRAPH_NODE_TYPE_HOST);
    n.launch = add_any(CU_GRAPH_NODE_TYPE_KERNEL);
    n.embedded = add_any(CU_GRAPH_NODE_TYPE_GRAPH);
    n.record = add_any(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    n.wait = add_any(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    n.empty = add_any(CU_GRAPH_NODE_TYPE_EMPTY);
}

static TCase *add_nodes_case(Suite *suite, const char *name)
{
    return with_fixture(add_graph_case(suite, name), create_nodes, NULL);
}

GROUP("graph nodes", add_nodes_case)

/* Launches the graph and checks what each node wrote. */
static void expect_launch(CUgraphExec exec, unsigned value)
{
    const unsigned calls = n.calls[value];
    launch_exec(exec);
    expect_words(g.a, value * 0x01010101u);
    expect_words(g.b, value % 2 ? 0x51515151u : 0x50505050u);
    ck_assert_uint_eq(n.calls[value], calls + 1);
    ck_assert_uint_eq(soft_word(g.c), 10 * value); /* the sum of the kernel's counters is 10 */
}

/* Changes the nodes of the executable graph or, if `exec` is NULL, of the graph itself. */
static void set_each(CUgraphExec exec, unsigned value)
{
    const CUDA_KERNEL_NODE_PARAMS launch = launch_with(value);
    const CUDA_MEMSET_NODE_PARAMS fill = fill_with(value);
    const CUDA_MEMCPY3D copy = copy_of(value);
    const CUDA_HOST_NODE_PARAMS call = call_with(value);
    if (exec) {
        DRV(cuGraphExecKernelNodeSetParams_v2, (exec, n.launch, &launch));
        DRV(cuGraphExecMemsetNodeSetParams, (exec, n.fill, &fill, fx.context));
        DRV(cuGraphExecMemcpyNodeSetParams, (exec, n.copy, &copy, fx.context));
        DRV(cuGraphExecHostNodeSetParams, (exec, n.host, &call));
    } else {
        DRV(cuGraphKernelNodeSetParams_v2, (n.launch, &launch));
        DRV(cuGraphMemsetNodeSetParams, (n.fill, &fill));
        DRV(cuGraphMemcpyNodeSetParams, (n.copy, &copy));
        DRV(cuGraphHostNodeSetParams, (n.host, &call));
    }
}

/* Does the same by the calls for any type. */
static void set_any(CUgraphExec exec, unsigned value)
{
    const struct {
        CUgraphNode node;
        CUgraphNodeType type;
    } each[] = {
        {n.launch, CU_GRAPH_NODE_TYPE_KERNEL},       {n.fill, CU_GRAPH_NODE_TYPE_MEMSET},
        {n.copy, CU_GRAPH_NODE_TYPE_MEMCPY},         {n.host, CU_GRAPH_NODE_TYPE_HOST},
        {n.record, CU_GRAPH_NODE_TYPE_EVENT_RECORD}, {n.wait, CU_GRAPH_NODE_TYPE_WAIT_EVENT}};
    for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
        CUgraphNodeParams any = any_params(each[i].type, value);
        if (exec)
            DRV(cuGraphExecNodeSetParams, (exec, each[i].node, &any));
        else
            DRV(cuGraphNodeSetParams, (each[i].node, &any));
    }
}

/* The values that the nodes of the graph return. */
static void expect_params(unsigned value, CUevent event)
{
    CUDA_KERNEL_NODE_PARAMS launch;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS call;
    CUevent record = NULL, wait = NULL;
    DRV(cuGraphKernelNodeGetParams_v2, (n.launch, &launch));
    ck_assert(launch.func == n.kernel && launch.ctx == fx.context && launch.blockDimX == 1);
    ck_assert_uint_eq(*(CUdeviceptr *)launch.kernelParams[0], g.c);
    ck_assert_uint_eq(((struct factor *)launch.kernelParams[1])->factor, value);
    DRV(cuGraphMemsetNodeGetParams, (n.fill, &fill));
    ck_assert(fill.dst == g.a && fill.elementSize == 1 && fill.value == value);
    ck_assert(fill.width == SIZE && fill.height == 1);
    DRV(cuGraphMemcpyNodeGetParams, (n.copy, &copy));
    ck_assert(copy.dstDevice == g.b && copy.srcDevice == n.words[value % 2]);
    ck_assert(copy.WidthInBytes == SIZE && copy.Height == 1 && copy.Depth == 1);
    ck_assert(copy.srcMemoryType == CU_MEMORYTYPE_DEVICE);
    ck_assert(copy.dstMemoryType == CU_MEMORYTYPE_DEVICE);
    DRV(cuGraphHostNodeGetParams, (n.host, &call));
    ck_assert(call.fn == add_to && call.userData == &n.calls[value]);
    DRV(cuGraphEventRecordNodeGetEvent, (n.record, &record));
    DRV(cuGraphEventWaitNodeGetEvent, (n.wait, &wait));
    ck_assert(record == event && wait == event);
}

SOFT_TEST(nodes_of_each_type_are_changed)
{
    g.exec = instantiate(g.graph);
    expect_params(0, g.event);
    expect_launch(g.exec, 0);
    set_each(g.exec, 1);
    expect_launch(g.exec, 1);
    set_any(g.exec, 2);
    expect_launch(g.exec, 2);
    DRV(cuEventQuery, (g.join));
    expect_params(0, g.event); /* the graph itself has not changed */
    for (unsigned value = 3; value < 5; value++) {
        (value == 3 ? set_each : set_any)(NULL, value);
        expect_params(value, value == 3 ? g.event : g.join);
        CUgraphExec exec = instantiate(g.graph);
        expect_launch(exec, value);
        DRV(cuGraphExecDestroy, (exec));
    }
}

SOFT_TEST(fills_have_elements_of_each_size)
{
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(0x1122);
    fill.elementSize = 2;
    fill.width = COUNT;
    fill.pitch = SIZE / 2;
    fill.height = 2;
    DRV(cuGraphMemsetNodeSetParams, (n.fill, &fill));
    DRV(cuGraphMemsetNodeGetParams, (n.fill, &fill));
    ck_assert(fill.elementSize == 2 && fill.pitch == SIZE / 2 && fill.height == 2);
    g.exec = instantiate(g.graph);
    launch_exec(g.exec);
    expect_words(g.a, 0x11221122);
    fill.elementSize = 4;
    fill.value = 0x33445566;
    fill.width = COUNT / 2;
    DRV(cuGraphExecMemsetNodeSetParams, (g.exec, n.fill, &fill, NULL));
    launch_exec(g.exec);
    expect_words(g.a, 0x33445566);

    fill.width = 0; /* does nothing */
    DRV(cuGraphExecMemsetNodeSetParams, (g.exec, n.fill, &fill, NULL));
    DRV(cuGraphMemsetNodeSetParams, (n.fill, &fill));
    CU(MemsetD8Async(g.a, 7, SIZE, fx.stream));
    launch_exec(g.exec);
    expect_words(g.a, 0x07070707);
    DRV(cuGraphMemsetNodeGetParams, (n.fill, &fill));
    ck_assert(fill.dst == 0 && fill.elementSize == 0);
}

SOFT_TEST(copies_have_sides_on_the_host_and_rows)
{
    enum { ROWS = 4, WIDTH = 16, PITCH = 64 };
    unsigned char from[ROWS * PITCH], to[2 * ROWS * WIDTH] = {0};
    pattern_fill(from, sizeof(from), 1);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = PITCH,
                          .srcHeight = ROWS,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = WIDTH,
                          .dstHeight = ROWS,
                          .WidthInBytes = WIDTH,
                          .Height = ROWS,
                          .Depth = 1},
                  has;
    DRV(cuGraphMemcpyNodeSetParams, (n.copy, &copy));
    DRV(cuGraphMemcpyNodeGetParams, (n.copy, &has));
    ck_assert(has.srcMemoryType == CU_MEMORYTYPE_HOST && has.srcHost == from);
    ck_assert(has.dstMemoryType == CU_MEMORYTYPE_HOST && has.dstHost == to);
    ck_assert(has.srcPitch == PITCH && has.srcHeight == ROWS);
    ck_assert(has.dstPitch == WIDTH && has.dstHeight == ROWS);
    ck_assert(has.WidthInBytes == WIDTH && has.Height == ROWS && has.Depth == 1);
    g.exec = instantiate(g.graph);
    launch_exec(g.exec);
    for (int row = 0; row < ROWS; row++)
        ck_assert_mem_eq(to + row * WIDTH, from + row * PITCH, WIDTH);
    ck_assert_uint_eq(to[ROWS * WIDTH], 0);
}

/* Each row has another node than the call is for. */
SOFT_TEST(parameters_of_other_types_are_refused)
{
    CUDA_KERNEL_NODE_PARAMS launch = launch_with(1);
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(1);
    CUDA_MEMCPY3D copy = copy_of(1);
    CUDA_HOST_NODE_PARAMS call = call_with(1);
    CUevent event = NULL;
    CUgraph graph = NULL;
    g.exec = instantiate(g.graph);
    INVALID(cuGraphKernelNodeGetParams_v2, (n.fill, &launch));
    INVALID(cuGraphMemsetNodeGetParams, (n.copy, &fill));
    INVALID(cuGraphMemcpyNodeGetParams, (n.host, &copy));
    INVALID(cuGraphHostNodeGetParams, (n.launch, &call));
    INVALID(cuGraphEventRecordNodeGetEvent, (n.wait, &event));
    INVALID(cuGraphEventWaitNodeGetEvent, (n.record, &event));
    INVALID(cuGraphChildGraphNodeGetGraph, (n.empty, &graph));
    INVALID(cuGraphKernelNodeGetParams_v2, (n.launch, NULL));
    INVALID(cuGraphMemsetNodeGetParams, (n.fill, NULL));
    INVALID(cuGraphMemcpyNodeGetParams, (n.copy, NULL));
    INVALID(cuGraphHostNodeGetParams, (n.host, NULL));
    INVALID(cuGraphEventRecordNodeGetEvent, (n.record, NULL));
    INVALID(cuGraphEventWaitNodeGetEvent, (n.wait, NULL));
    INVALID(cuGraphChildGraphNodeGetGraph, (n.embedded, NULL));
    ck_assert(!event && !graph);
    INVALID(cuGraphKernelNodeSetParams_v2, (n.fill, &launch));
    INVALID(cuGraphMemsetNodeSetParams, (n.copy, &fill));
    INVALID(cuGraphMemcpyNodeSetParams, (n.host, &copy));
    INVALID(cuGraphHostNodeSetParams, (n.launch, &call));
    INVALID(cuGraphExecMemcpyNodeSetParams, (g.exec, n.fill, &copy, fx.context));
    INVALID(cuGraphExecHostNodeSetParams, (g.exec, NULL, &call));
    INVALID(cuGraphExecHostNodeSetParams, (NULL, n.host, &call));
    expect_params(0, g.event);
    expect_launch(g.exec, 0);
}

SOFT_TEST(invalid_parameters_are_refused)
{
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS fill = fill_with(1);
    CUDA_HOST_NODE_PARAMS call = call_with(1);
    CUgraphNodeParams any = any_params(CU_GRAPH_NODE_TYPE_GRAPH, 1);
    const CUcontext context = (CUcontext)g.graph; /* not a context */
    g.exec = instantiate(g.graph);
    fill.elementSize = 3;
    INVALID(cuGraphAddMemsetNode, (&node, g.graph, NULL, 0, &fill, fx.context));
    INVALID(cuGraphExecMemsetNodeSetParams, (g.exec, n.fill, &fill, fx.context));
    fill.elementSize = 1;
    GIVES(ERROR_INVALID_CONTEXT, cuGraphAddMemsetNode, (&node, g.graph, NULL, 0, &fill, context));
    INVALID(cuGraphAddMemsetNode, (NULL, g.graph, NULL, 0, &fill, fx.context));
    INVALID(cuGraphAddMemsetNode, (&node, g.graph, NULL, 1, &fill, fx.context));
    INVALID(cuGraphAddKernelNode_v2, (&node, g.graph, NULL, 0, NULL));
    INVALID(cuGraphAddMemcpyNode, (&node, g.graph, NULL, 0, NULL, fx.context));
    INVALID(cuGraphAddMemsetNode, (&node, g.graph, NULL, 0, NULL, fx.context));
    INVALID(cuGraphAddHostNode, (&node, g.graph, NULL, 0, NULL));
    INVALID(cuGraphAddChildGraphNode, (&node, g.graph, NULL, 0, NULL));
    INVALID(cuGraphAddEventWaitNode, (&node, g.graph, NULL, 0, NULL));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphNodeSetParams, (n.embedded, &any));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphExecNodeSetParams, (g.exec, n.embedded, &any));
    any.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    GIVES(ERROR_NOT_SUPPORTED, cuGraphNodeSetParams, (n.fill, &any));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphExecNodeSetParams, (g.exec, n.fill, &any));
    CU(CtxSetCurrent(NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuGraphAddHostNode, (&node, g.graph, NULL, 0, &call));
    CU(CtxSetCurrent(fx.context));
    ck_assert_ptr_null(node);
    expect_size(g.graph, 8, 0);
}

/* A kernel takes its parameters also as one buffer. The module outlives its unloading. */
SOFT_TEST(kernel_nodes_hold_their_module)
{
    CUmodule module = new_module();
    CUgraphNode node = NULL;
    struct {
        CUdeviceptr out;
        struct factor by;
    } buffer = {g.c, {.factor = 3}};
    size_t size = sizeof(buffer);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS params = launch_with(0);
    params.func = function_of(module, "add_counters");
    params.kernelParams = NULL;
    INVALID(cuGraphAddKernelNode_v2, (&node, g.other, NULL, 0, &params)); /* no parameters */
    params.extra = extra;
    DRV(cuGraphAddKernelNode_v2, (&node, g.other, NULL, 0, &params));
    buffer.by.factor = 0;
    CUgraphExec exec = instantiate(g.other);
    params.blockDimX = 2000;
    INVALID(cuGraphExecKernelNodeSetParams_v2, (exec, node, &params));
    DRV(cuGraphDestroy, (g.other));
    g.other = NULL;
    DRV(cuModuleUnload, (module));
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuGraphExecDestroy, (exec));
    ck_assert_uint_eq(soft_word(g.c), 30);
}
#endif
