using System.ComponentModel;
using ActOp.Wire;

namespace ActOp.Serialization;

/// <summary>Base of generated codecs of classes: members with ids, one group for each class of the hierarchy.</summary>
/// <typeparam name="T">The class.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class ClassCodec<T> : ReferenceCodec<T>, IExceptionMembers
    where T : class
{
    private byte _immutable;

    /// <summary>The generated codec of the class; for derived classes and exceptions.</summary>
    public static ClassCodec<T> Members => field ??= (ClassCodec<T>)CodecTable.Generated(typeof(T));

    /// <summary>
    /// True when nothing that an object holds can change: by [Immutable], or because all members are read-only and immutable.
    /// </summary>
    public bool IsShareable
    {
        get
        {
            const byte no = 1, yes = 2;
            if (_immutable == 0)
            {
                _immutable = no; // A class that contains itself asks again.
                _immutable = AreMembersImmutable() ? yes : no;
            }

            return _immutable == yes;
        }
    }

    /// <inheritdoc/>
    protected override bool IsExactImmutable => IsShareable;

    void IExceptionMembers.Fill(ref WireReader reader, object value) => ReadMembers(ref reader, (T)value);

    /// <summary>Writes the members of the class and its bases.</summary>
    public abstract void WriteMembers(ref WireWriter writer, T value);

    /// <summary>Reads the members of the class and its bases.</summary>
    public abstract void ReadMembers(ref WireReader reader, T value);

    /// <summary>Copies the members of the class and its bases.</summary>
    public abstract void CopyMembers(T from, T to, CopyContext context);

    /// <summary>An object whose members are not set yet.</summary>
    protected abstract T Create();

    /// <summary>Computed once.</summary>
    protected virtual bool AreMembersImmutable() => false;

    /// <inheritdoc/>
    protected override void WriteBody(ref WireWriter writer, T value) => WriteMembers(ref writer, value);

    /// <inheritdoc/>
    protected override T ReadBody(ref WireReader reader, int at)
    {
        var value = Create();
        Record(ref reader, at, value);
        ReadMembers(ref reader, value);
        return value;
    }

    /// <inheritdoc/>
    protected override T CopyBody(T value, CopyContext context)
    {
        var copy = Create();
        context.RecordCopy(value, copy);
        CopyMembers(value, copy, context);
        return copy;
    }
}
