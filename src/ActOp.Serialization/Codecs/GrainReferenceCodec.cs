using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// References to grains and observers: the interface's name (empty for null), the grain's type and key. A grain that is passed itself is
/// written as a reference to it; any other object is refused.
/// </summary>
internal sealed class GrainReferenceCodec<T> : Codec<T>
    where T : class
{
    /// <summary>A reference is immutable, but a grain must be replaced by one.</summary>
    public override bool IsImmutable => false;

    public override T Copy(T value, CopyContext context) => value is null or GrainReference ? value! : (T)(object)GrainReferences.Of(value, typeof(T));

    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
        {
            writer.WriteByte(0);
            return;
        }

        var reference = value as GrainReference ?? GrainReferences.Of(value, typeof(T));
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
            throw new SerializerException("The wire names the grain interface " + name + ", which is not registered here.");
        var runtime = reader.Session.Runtime ?? throw new GrainReferenceNotBoundException();
        return Header.Fit<T>(runtime.CreateReference(id, typeof(T).IsInterface && typeof(T).IsAssignableFrom(entry.Type) || !TypeManifest.IsGrainInterface(typeof(T)) ? entry.Type : typeof(T)));
    }
}
