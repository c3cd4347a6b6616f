using System.Runtime.CompilerServices;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>What this assembly is for the table of codecs. Holds nothing; any thread.</summary>
internal sealed class BridgeSource : FieldCodecSource
{
#pragma warning disable CA2255 // Whoever uses this assembly makes its codecs known, without anybody composing it.
    [ModuleInitializer]
    internal static void Install()
    {
        TypeManifest.AddType(typeof(PooledBuffer), typeof(PooledBuffer).FullName!);
        CodecTable.Add(typeof(PooledBuffer), static () => new PooledBufferCodec());
        Install(new BridgeSource());
    }
#pragma warning restore CA2255

    internal override AnyCodec Objects { get; } = new BridgedAnyCodec();

    internal override ICodecScope OfNobody => Bridge.OfNobody;

    internal override object? TryMake(Type type) => Bridge.TryMake(type);

    internal override bool IsOwn(object codec) => codec.GetType() is { IsGenericType: true } type
        && type.GetGenericTypeDefinition() is var definition
        && (definition == typeof(BridgedCodec<>) || definition == typeof(BridgedClassCodec<>));

    internal override bool Supports(Type type) => Bridge.Supports(type);

    internal override bool SupportsObject(Type type) => Bridge.SupportsObject(type);

    internal override void AddServices(IServiceCollection services) => services.AddSerializer();
}

/// <summary>The bytes. Copies of the struct share its memory, which whoever owns the buffer gives back.</summary>
internal sealed class PooledBufferCodec() : Codecs.PlainCodec<PooledBuffer>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, PooledBuffer value) => writer.WriteBytes(value.Memory.Span);

    public override PooledBuffer Read(ref WireReader reader)
    {
        var buffer = new PooledBuffer();
        buffer.Write(reader.ReadBytes());
        return buffer;
    }
}
