using System.Buffers;
using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using Orleans.Serialization.Buffers.Adaptors;
using Orleans.Serialization.Session;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Buffers;

/// <summary>Creates writers for an application's codecs.</summary>
public static class Writer
{
    public static Writer<TBufferWriter> Create<TBufferWriter>(TBufferWriter destination, SerializerSession session)
        where TBufferWriter : IBufferWriter<byte> => new(destination, default, session);

    public static Writer<ArcBufferWriterWrapper> Create(ArcBufferWriter destination, SerializerSession session) =>
        new(new ArcBufferWriterWrapper(destination), default, session);

    public static Writer<MemoryStreamBufferWriter> Create(MemoryStream destination, SerializerSession session) =>
        new(new MemoryStreamBufferWriter(destination), default, session);

    public static Writer<ArrayStreamBufferWriter> Create(Stream destination, SerializerSession session, int sizeHint = 0) =>
        new(new ArrayStreamBufferWriter(destination, sizeHint), default, session);

    public static Writer<PoolingStreamBufferWriter> CreatePooled(Stream destination, SerializerSession session, int sizeHint = 0) =>
        new(new PoolingStreamBufferWriter(destination, sizeHint), default, session);

    public static Writer<PooledBuffer> CreatePooled(SerializerSession session) => new(new PooledBuffer(), default, session);

    public static Writer<SpanBufferWriter> Create(byte[] output, SerializerSession session) => Create(output.AsSpan(), session);

    public static Writer<SpanBufferWriter> Create(Span<byte> output, SerializerSession session) => new(default, output, session);

    public static Writer<MemoryBufferWriter> Create(Memory<byte> output, SerializerSession session) =>
        new(new MemoryBufferWriter(output), default, session);
}

/// <summary>Creates writers for an application's codecs.</summary>
public static class BufferWriterExtensions
{
    public static Writer<TBufferWriter> CreateWriter<TBufferWriter>(this TBufferWriter buffer, SerializerSession session)
        where TBufferWriter : IBufferWriter<byte> => Writer.Create(buffer, session);
}

/// <summary>
/// Writes the fields of an application's codecs. Numbers of variable length say their length in the low bits of the first byte.
/// </summary>
/// <typeparam name="TBufferWriter">Where to.</typeparam>
public ref struct Writer<TBufferWriter>
    where TBufferWriter : IBufferWriter<byte>
{
    /// <summary>Where it is written to; complete after <see cref="Commit"/>.</summary>
    public TBufferWriter Output;

    private Span<byte> _span;
    private int _used;
    private int _before;

    internal Writer(TBufferWriter output, Span<byte> span, SerializerSession session)
    {
        Output = output;
        _span = span;
        Session = session;
    }

    public SerializerSession Session { get; }

    public readonly int Position => _before + _used;

    public readonly Span<byte> WritableSpan => _span[_used..];

    public void AdvanceSpan(int length) => _used += length;

    /// <summary>Gives what was written to <see cref="Output"/>.</summary>
    public void Commit()
    {
        if (_used > 0)
            Output.Advance(_used);
        _before += _used;
        _span = typeof(TBufferWriter) == typeof(SpanBufferWriter) ? _span[_used..] : default;
        _used = 0;
    }

    public void Dispose()
    {
        if (Output is IDisposable disposable && typeof(TBufferWriter).IsValueType)
        {
            disposable.Dispose();
            Output = (TBufferWriter)disposable;
        }
    }

    public void EnsureContiguous(int length)
    {
        if (_span.Length - _used < length)
            Allocate(length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Allocate(int sizeHint)
    {
        Commit();
        if (typeof(TBufferWriter) != typeof(SpanBufferWriter))
            _span = Output.GetSpan(sizeHint);
        if (_span.Length < sizeHint)
            throw new InvalidOperationException("Insufficient capacity to perform the requested operation.");
    }

    public void Write(scoped ReadOnlySpan<byte> value)
    {
        EnsureContiguous(value.Length);
        value.CopyTo(_span[_used..]);
        _used += value.Length;
    }

    public void WriteByte(byte value)
    {
        EnsureContiguous(1);
        _span[_used++] = value;
    }

    public void WriteInt32(int value) => WriteUInt32((uint)value);

    public void WriteInt64(long value) => WriteUInt64((ulong)value);

    public void WriteUInt32(uint value)
    {
        EnsureContiguous(4);
        BinaryPrimitives.WriteUInt32LittleEndian(_span[_used..], value);
        _used += 4;
    }

    public void WriteUInt64(ulong value)
    {
        EnsureContiguous(8);
        BinaryPrimitives.WriteUInt64LittleEndian(_span[_used..], value);
        _used += 8;
    }

    public void WriteVarInt8(sbyte value) => WriteVarUInt32((byte)((value << 1) ^ (value >> 7)));

    public void WriteVarInt16(short value) => WriteVarUInt32((ushort)((value << 1) ^ (value >> 15)));

    public void WriteVarInt32(int value) => WriteVarUInt32((uint)((value << 1) ^ (value >> 31)));

    public void WriteVarInt64(long value) => WriteVarUInt64((ulong)((value << 1) ^ (value >> 63)));

    public void WriteVarUInt8(byte value) => WriteVarUInt32(value);

    public void WriteVarUInt16(ushort value) => WriteVarUInt32(value);

    public void WriteVarUInt32(uint value) => WriteVarUInt64(value);

    public void WriteVarUInt64(ulong value)
    {
        var count = Math.Max(1, (64 - BitOperations.LeadingZeroCount(value) + 6) / 7);
        EnsureContiguous(count);
        var to = _span[_used..];
        if (count <= 8)
        {
            var low = ((value << 1) | 1) << (count - 1);
            for (var i = 0; i < count; i++)
                to[i] = (byte)(low >> (8 * i));
        }
        else
        {
            BinaryPrimitives.WriteUInt64LittleEndian(to, (value << count) | (1UL << (count - 1)));
            var high = value >> (64 - count);
            for (var i = 8; i < count; i++)
                to[i] = (byte)(high >> (8 * (i - 8)));
        }

        _used += count;
    }

    public void WriteStartObject(uint fieldId, Type? expectedType, Type actualType) =>
        WriteFieldHeader(fieldId, expectedType, actualType, WireType.TagDelimited);

    public void WriteEndObject() => WriteByte((byte)WireType.Extended | (byte)ExtendedWireType.EndTagDelimited);

    public void WriteEndBase() => WriteByte((byte)WireType.Extended | (byte)ExtendedWireType.EndBaseFields);

    /// <summary>Writes the header of a field whose type is the expected one.</summary>
    public void WriteFieldHeaderExpected(uint fieldId, WireType wireType) => WriteTag(fieldId, (uint)wireType);

    /// <summary>Writes the header of a field, with its type when that is not the expected one.</summary>
    public void WriteFieldHeader(uint fieldId, Type? expectedType, Type? actualType, WireType wireType)
    {
        SerializerSession.CheckDepth();
        if (actualType is null || actualType == expectedType)
        {
            WriteTag(fieldId, (uint)wireType);
        }
        else if (Session.WellKnownTypes.TryGetWellKnownTypeId(actualType, out var id))
        {
            WriteTag(fieldId, (uint)wireType | (uint)SchemaType.WellKnown);
            WriteVarUInt32(id);
        }
        else if (Session.ReferencedTypes.TryGetTypeReference(actualType, out id))
        {
            WriteTag(fieldId, (uint)wireType | (uint)SchemaType.Referenced);
            WriteVarUInt32(id);
        }
        else
        {
            WriteTag(fieldId, (uint)wireType | (uint)SchemaType.Encoded);
            Session.TypeCodec.WriteEncodedType(ref this, actualType);
            Session.ReferencedTypes.RecordReferencedType(actualType);
        }
    }

    private void WriteTag(uint fieldId, uint tag)
    {
        if (fieldId <= Tag.MaxEmbeddedFieldIdDelta)
        {
            WriteByte((byte)(tag | fieldId));
            return;
        }

        WriteByte((byte)(tag | Tag.FieldIdCompleteMask));
        WriteVarUInt32(fieldId);
    }
}
