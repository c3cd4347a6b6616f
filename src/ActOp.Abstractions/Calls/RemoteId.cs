namespace ActOp.Calls;

/// <summary>
/// The bytes of a grain's id from the wire. Belongs to a pooled call, which keeps the array from use to use, unless it has grown long.
/// </summary>
internal struct RemoteId
{
    private const int KeptBytes = 128;

    private byte[]? _bytes;
    private int _typeLength;
    private int _length;

    /// <summary>The hash as it came.</summary>
    internal uint Hash { get; private set; }

    internal readonly bool IsDefault => _length == 0;

    internal readonly ReadOnlySpan<byte> Type => _bytes.AsSpan(0, _typeLength);

    internal readonly ReadOnlySpan<byte> Key => _bytes.AsSpan(_typeLength, _length - _typeLength);

    internal void Set(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        var length = type.Length + key.Length;
        if (_bytes is null || _bytes.Length < length)
            _bytes = new byte[Math.Max(length, 32)];
        type.CopyTo(_bytes);
        key.CopyTo(_bytes.AsSpan(type.Length));
        Hash = hash;
        _typeLength = type.Length;
        _length = length;
    }

    internal void Clear()
    {
        if (_length > KeptBytes)
            _bytes = null;
        _length = _typeLength = 0;
    }
}
