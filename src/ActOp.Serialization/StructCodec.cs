using System.ComponentModel;
using ActOp.Wire;

namespace ActOp.Serialization;

/// <summary>Base of generated codecs of structs.</summary>
/// <typeparam name="T">The struct.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StructCodec<T> : Codec<T>
    where T : struct
{
    private byte _immutable;

    /// <inheritdoc/>
    public override bool IsImmutable
    {
        get
        {
            const byte no = 1, yes = 2;
            if (_immutable == 0)
            {
                _immutable = no; // A struct that contains itself by way of a collection asks again.
                _immutable = AreMembersImmutable() ? yes : no;
            }

            return _immutable == yes;
        }
    }

    /// <inheritdoc/>
    public override T Copy(T value, CopyContext context)
    {
        if (IsImmutable)
            return value;
        var copy = value;
        CopyMembers(ref copy, context);
        return copy;
    }

    /// <inheritdoc/>
    public override void Write(ref WireWriter writer, T value)
    {
        writer.Session.Enter();
        WriteMembers(ref writer, ref value);
        writer.Session.Exit();
    }

    /// <inheritdoc/>
    public override T Read(ref WireReader reader)
    {
        var value = Create();
        reader.Session.Enter();
        ReadMembers(ref reader, ref value);
        reader.Session.Exit();
        return value;
    }

    /// <summary>Writes the members.</summary>
    public abstract void WriteMembers(ref WireWriter writer, ref T value);

    /// <summary>Reads the members.</summary>
    public abstract void ReadMembers(ref WireReader reader, ref T value);

    /// <summary>Replaces the members of a shallow copy by deep copies.</summary>
    public abstract void CopyMembers(ref T value, CopyContext context);

    /// <summary>Computed once.</summary>
    protected abstract bool AreMembersImmutable();

    /// <summary>A value whose members are not set yet.</summary>
    protected virtual T Create() => default;
}
