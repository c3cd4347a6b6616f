namespace ActOp.Wire;

/// <summary>A growing byte array that is kept and used again; one thread at a time.</summary>
public sealed class WireBuffer
{
    /// <summary>Arrays above this are given up after use, so that one large message does not stay in memory.</summary>
    private const int KeptBytes = 1 << 20;

    /// <summary>Creates a buffer of <paramref name="capacity"/> bytes.</summary>
    public WireBuffer(int capacity = 1024) => Array = new byte[capacity];

    /// <summary>The bytes; the first <see cref="Length"/> are written.</summary>
    public byte[] Array { get; private set; }

    /// <summary>Bytes written.</summary>
    public int Length { get; internal set; }

    /// <summary>What was written.</summary>
    public ReadOnlySpan<byte> Written => Array.AsSpan(0, Length);

    /// <summary>Forgets what was written.</summary>
    public void Clear()
    {
        Length = 0;
        if (Array.Length > KeptBytes)
            Array = new byte[1024];
    }

    /// <summary>Makes room for <paramref name="count"/> more bytes.</summary>
    internal void Grow(int count)
    {
        var needed = checked(Length + count);
        var array = Array;
        System.Array.Resize(ref array, Math.Max(needed, (int)Math.Min(2L * array.Length, System.Array.MaxLength)));
        Array = array;
    }
}
