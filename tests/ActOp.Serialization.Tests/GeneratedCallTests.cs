using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Serialization.Tests;

public class GeneratedCallTests
{
    private readonly TestGrain _grain = new();

    private DirectRuntime Local => new(_grain);

    private DirectRuntime Remote => new(_grain) { ThroughWire = true };

    [Fact]
    public async Task A_task_call_brings_its_result()
    {
        Assert.Equal(6, await Local.Reference<ICounterGrain>().Add(5, null));
        Assert.Equal(6, await Remote.Reference<ICounterGrain>().Add(5, "e"));
        Assert.Equal(["Add 5 null", "Add 5 e"], _grain.Log);
    }

    [Fact]
    public async Task A_value_task_call_brings_its_result_and_returns_to_the_pool()
    {
        var runtime = Local;
        var grain = runtime.Reference<ICounterGrain>();
        Assert.Equal(42, await grain.Read());
        Assert.Equal(42, await grain.Read());
        Assert.Same(runtime.Sent[0], runtime.Sent[1]);
    }

    [Fact]
    public async Task An_exception_of_the_grain_reaches_the_caller()
    {
        var error = await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await Local.Reference<ICounterGrain>().Reset(Guid.Empty));
        Assert.Equal("no 00", error.Message);
    }

    [Fact]
    public void A_one_way_call_completes_at_once()
    {
        Assert.True(Local.Reference<ICounterGrain>().Notify("n").IsCompletedSuccessfully);
        Local.Reference<IObserver>().Seen(3);
        Assert.Equal(["n", "Seen 3"], _grain.Log);
    }

    [Fact]
    public async Task All_primitive_arguments_travel() =>
        Assert.Equal(
            "-1 4294967296 0.5 True 255 null", await Remote.Reference<ICounterGrain>().Describe(-1, 1L << 32, 0.5, true, 255, null));

    [Fact]
    public async Task A_generic_method_travels_with_its_type_arguments()
    {
        var runtime = Remote;
        Assert.Equal("x", await runtime.Reference<ICounterGrain>().Echo("x"));
        Assert.Equal(7, await runtime.Reference<ICounterGrain>().Echo(7));
        Assert.Equal("System.Int32", runtime.Sent[1].Method.TypeArguments);
    }

    [Fact]
    public async Task A_generic_interface_travels_with_its_type_arguments()
    {
        var runtime = Remote;
        var list = runtime.Reference<IListGrain<string>>();
        await list.Append("a");
        Assert.Equal(("b", 3), await list.Look(123, "b"));
        Assert.Equal("System.String,System.Int32", runtime.Sent[1].Method.TypeArguments);
        Assert.Equal("ActOp.Serialization.Tests.IListGrain`1<System.String>", ((GrainReference)list).InterfaceName);
    }

    [Fact]
    public async Task Calls_through_a_derived_interface_have_the_ids_of_the_declaring_one()
    {
        var runtime = Local;
        await runtime.Reference<ICounterGrain>().Add(1, null);
        await runtime.Reference<IDerivedGrain>().Add(1, null);
        Assert.Equal(-3, await runtime.Reference<IDerivedGrain>().Plain(3));
        Assert.Equal(runtime.Sent[0].Method.Id, runtime.Sent[1].Method.Id);
    }

    [Fact]
    public async Task Options_timeout_and_reflection_come_from_the_interface()
    {
        var runtime = Local;
        await runtime.Reference<ICounterGrain>().Describe(0, 0, 0, false, 0, null);
        var method = runtime.Sent[0].Method;
        Assert.Equal(InvokeMethodOptions.ReadOnly | InvokeMethodOptions.AlwaysInterleave, method.Options & (InvokeMethodOptions)0xFF);
        Assert.Equal(TimeSpan.FromSeconds(5), method.ResponseTimeout);
        Assert.Equal(typeof(ICounterGrain).GetMethod(nameof(ICounterGrain.Describe)), method.Info);
        Assert.Equal(typeof(ICounterGrain), method.InterfaceType);
    }

    [Fact]
    public void Method_ids_do_not_change_between_builds()
    {
        var methods = TypeManifest.Methods.ToDictionary(m => (m.InterfaceType, m.Name, m.Id));
        Assert.Contains((typeof(ICounterGrain), "Read", Fnv("ActOp.Serialization.Tests.ICounterGrain.Read()")), methods.Keys);
        Assert.Contains((typeof(ICounterGrain), "Echo", Fnv("ActOp.Serialization.Tests.ICounterGrain.Echo`1(!!0)")), methods.Keys);
        Assert.Contains((typeof(IDerivedGrain), "More", Fnv("ActOp.Serialization.Tests.IDerivedGrain.renamed")), methods.Keys);
        Assert.Contains((typeof(IAliased), "Do", Fnv("special.Do(System.Int32)")), methods.Keys);
    }

    [Fact]
    public void Interfaces_are_found_by_type_and_by_name()
    {
        Assert.True(TypeManifest.TryGetInterface("special", out var aliased));
        Assert.Equal(typeof(IAliased), aliased.Type);
        Assert.True(TypeManifest.TryGetInterface("ActOp.Serialization.Tests.Outer+INested", out var nested));
        Assert.Equal(typeof(Outer.INested), nested.Type);
        Assert.True(TypeManifest.TryGetInterface("ActOp.Serialization.Tests.IListGrain`1<System.Int32>", out var list));
        Assert.Equal(typeof(IListGrain<int>), list.Type);
        Assert.False(TypeManifest.TryGetInterface("System.IDisposable", out _));
    }

    private static ulong Fnv(string text) =>
        System.Text.Encoding.UTF8.GetBytes(text).Aggregate(14695981039346656037UL, (hash, b) => (hash ^ b) * 1099511628211UL);
}
