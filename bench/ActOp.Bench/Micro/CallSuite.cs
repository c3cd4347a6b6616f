using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using BenchmarkDotNet.Attributes;

namespace ActOp.Bench.Micro;

/// <summary>Calls from the process's own client to grains of the silo in it.</summary>
[MemoryDiagnoser]
[ShortRunJob]
public class CallSuite
{
    private const int Calls = 1000;
    private readonly TenFields _record = new();
    private BenchHost _silo = null!;
    private IEchoGrain _grain = null!;
    private long _nextKey;

    /// <summary>Starts the silo.</summary>
    [GlobalSetup]
    public async Task Setup()
    {
        _silo = await BenchHost.StartSilo(locality: false);
        _grain = _silo.Grains.GetGrain<IEchoGrain>(-1);
        await _grain.Next(0);
    }

    /// <summary>Stops it.</summary>
    [GlobalCleanup]
    public async Task Cleanup() => await _silo.DisposeAsync();

    /// <summary>An integer there and back.</summary>
    [Benchmark(OperationsPerInvoke = Calls)]
    public async Task Local()
    {
        for (var call = 0; call < Calls; call++)
            await _grain.Next(call).ConfigureAwait(false);
    }

    /// <summary>A record of ten fields there and back: one copy each way.</summary>
    [Benchmark(OperationsPerInvoke = Calls)]
    public async Task LocalTenFields()
    {
        for (var call = 0; call < Calls; call++)
            await _grain.Send(_record).ConfigureAwait(false);
    }

    /// <summary>The first call of a grain: directory, construction, activation.</summary>
    [Benchmark]
    public async Task Activation() => await _silo.Grains.GetGrain<IEchoGrain>(_nextKey++).Next(0).ConfigureAwait(false);
}
