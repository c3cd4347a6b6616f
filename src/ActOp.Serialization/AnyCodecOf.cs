using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>Objects of type <typeparamref name="T"/> behind a header.</summary>
internal sealed class AnyCodecOf<T> : AnyCodec
    where T : notnull
{
    private readonly string _name;
    private readonly Codec<T> _codec = Codec<T>.Default;
    private readonly IBodyCodec? _body;

    public AnyCodecOf(string name)
    {
        _name = name;
        _body = _codec as IBodyCodec;
    }

    internal override object Copy(object value, CopyContext context) => _codec.IsImmutable ? value : _codec.Copy((T)value, context);

    internal override void Write(ref WireWriter writer, object value)
    {
        var tracked = _body is { IsTracked: true };
        if (tracked && !Header.TryTrack(ref writer, value))
            return;
        writer.WriteByte(tracked ? Header.TypedTracked : Header.Typed);
        WriteType(ref writer, this, _name);
        writer.Session.Enter();
        if (_body is not null)
            _body.WriteObject(ref writer, value);
        else
            _codec.Write(ref writer, (T)value);
        writer.Session.Exit();
    }

    protected override object ReadBody(ref WireReader reader, int at)
    {
        if (_body is not null)
            return _body.ReadObject(ref reader, at);
        var value = _codec.Read(ref reader) ?? throw new SerializerException("The wire has null where a " + typeof(T) + " is expected.");
        if (at >= 0)
            reader.Session.AddRead(at, value);
        return value;
    }
}
