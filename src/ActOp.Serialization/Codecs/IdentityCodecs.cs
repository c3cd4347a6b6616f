using ActOp.Wire;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>The text.</summary>
internal sealed class ActivationIdCodec() : PlainCodec<Orleans.Runtime.ActivationId>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.ActivationId value) =>
        writer.WriteString(value.IsDefault ? "" : value.ToParsableString());

    public override Orleans.Runtime.ActivationId Read(ref WireReader reader) => Parsing.Activation(reader.ReadString());
}

/// <summary>Grain, activation, silo and view.</summary>
internal sealed class GrainAddressCodec() : PlainCodec<Orleans.Runtime.GrainAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainAddress? value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.GrainAddress? Read(ref WireReader reader) => Parsing.GrainAddress(ref reader);
}

/// <summary>Type and key.</summary>
internal sealed class GrainIdCodec() : PlainCodec<Orleans.Runtime.GrainId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainId value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.GrainId Read(ref WireReader reader) => Parsing.GrainId(ref reader);
}

/// <summary>Length and UTF-8.</summary>
internal sealed class GrainInterfaceTypeCodec() : PlainCodec<Orleans.Runtime.GrainInterfaceType>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainInterfaceType value) => writer.WriteBytes(value.Value.AsSpan());

    public override Orleans.Runtime.GrainInterfaceType Read(ref WireReader reader) => new(Parsing.IdSpan(ref reader));
}

/// <summary>Length and UTF-8.</summary>
internal sealed class GrainTypeCodec() : PlainCodec<Orleans.Runtime.GrainType>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainType value) => writer.WriteBytes(value.AsSpan());

    public override Orleans.Runtime.GrainType Read(ref WireReader reader) => new(Parsing.IdSpan(ref reader));
}

/// <summary>Length and UTF-8.</summary>
internal sealed class IdSpanCodec() : PlainCodec<Orleans.Runtime.IdSpan>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.IdSpan value) => writer.WriteBytes(value.AsSpan());

    public override Orleans.Runtime.IdSpan Read(ref WireReader reader) => Parsing.IdSpan(ref reader);
}

/// <summary>Zigzag varint.</summary>
internal sealed class MembershipVersionCodec() : PlainCodec<Orleans.Runtime.MembershipVersion>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.MembershipVersion value) => writer.WriteVarInt64(value.Value);

    public override Orleans.Runtime.MembershipVersion Read(ref WireReader reader) => new(reader.ReadVarInt64());
}

/// <summary>End point and generation.</summary>
internal sealed class SiloAddressCodec() : PlainCodec<Orleans.Runtime.SiloAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.SiloAddress? value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.SiloAddress? Read(ref WireReader reader) => Parsing.Silo(ref reader);
}

/// <summary>
/// References to grains and observers: the interface's name (empty for null), the grain's type and key. A grain that is passed itself is
/// written as a reference to it; any other object is refused.
/// </summary>
internal sealed class GrainReferenceCodec<T> : Codec<T>
    where T : class
{
    /// <summary>A reference is immutable, but a grain must be replaced by one.</summary>
    public override bool IsImmutable => false;

    public override T Copy(T value, CopyContext context) =>
        value is null or GrainReference ? value! : (T)(object)GrainReferences.ReferenceOf(value, typeof(T));

    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
        {
            writer.WriteByte(0);
            return;
        }

        var reference = value as GrainReference ?? GrainReferences.ReferenceOf(value, typeof(T));
        writer.WriteBytes(reference.InterfaceType.Value.AsSpan());
        Parsing.Write(ref writer, reference.GrainId);
    }

    public override T Read(ref WireReader reader)
    {
        var name = reader.ReadString();
        if (name.Length == 0)
            return null!;
        var id = Parsing.GrainId(ref reader);
        if (!TypeManifest.TryGetInterface(name, out var entry))
            throw new SerializerException("The message names the grain interface " + name + ", which is not registered in this process.");
        var runtime = reader.Session.Runtime ?? throw new GrainReferenceNotBoundException();
        return Header.Fit<T>(runtime.CreateReference(id, typeof(T).IsInterface && typeof(T).IsAssignableFrom(entry.Type)
            || !TypeManifest.IsGrainInterface(typeof(T)) ? entry.Type : typeof(T)));
    }
}

/// <summary>Finds the reference to a grain that is passed as an object.</summary>
internal static class GrainReferences
{
    internal static GrainReference ReferenceOf(object value, Type interfaceType)
    {
        if (value is not IGrainBase { GrainContext: { } context })
        {
            throw new NotSupportedException(
                "An object of type " + value.GetType() + " cannot be passed as " + interfaceType +
                    ": pass a reference, for observers the one of CreateObjectReference.");
        }

        var reference = context.GrainReference;
        return interfaceType.IsInstanceOfType(reference)
            ? reference : (GrainReference)reference.Shared.CallRuntime.Cast(reference, interfaceType);
    }
}
