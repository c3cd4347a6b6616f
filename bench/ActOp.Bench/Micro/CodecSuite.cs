using ActOp.Bench.Grains;
using BenchmarkDotNet.Attributes;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace ActOp.Bench.Micro;

/// <summary>Writing, reading and copying a message of ten fields.</summary>
[MemoryDiagnoser]
[ShortRunJob]
public class CodecSuite
{
    private readonly TenFields _record = new();
    private Serializer _serializer = null!;
    private DeepCopier _copier = null!;
    private byte[] _bytes = [];

    /// <summary>Makes the serializer.</summary>
    [GlobalSetup]
    public void Setup()
    {
        var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
        _serializer = services.GetRequiredService<Serializer>();
        _copier = services.GetRequiredService<DeepCopier>();
        _bytes = _serializer.SerializeToArray(_record);
    }

    /// <summary>To bytes.</summary>
    [Benchmark]
    public byte[] Write() => _serializer.SerializeToArray(_record);

    /// <summary>From bytes.</summary>
    [Benchmark]
    public TenFields Read() => _serializer.Deserialize<TenFields>(_bytes)!;

    /// <summary>From object to object.</summary>
    [Benchmark]
    public TenFields Copy() => _copier.Copy(_record);
}
