using System.Buffers.Binary;

namespace ActOp.Mesh;

/// <summary>The complete frames of one read, in order, without a copy: <c>foreach (var body in frames)</c>.</summary>
public readonly ref struct FrameBatch
{
    private readonly ReadOnlySpan<byte> _bytes;

    internal FrameBatch(ReadOnlySpan<byte> bytes, int count)
    {
        _bytes = bytes;
        Count = count;
    }

    /// <summary>Number of frames; at least one.</summary>
    public int Count { get; }

    /// <summary>Starts at the first frame.</summary>
    public Enumerator GetEnumerator() => new(_bytes);

    /// <summary>Walks the frames; <see cref="Current"/> is a frame's body.</summary>
    public ref struct Enumerator
    {
        private ReadOnlySpan<byte> _rest;

        internal Enumerator(ReadOnlySpan<byte> bytes) => _rest = bytes;

        /// <summary>The body of the frame, without its length.</summary>
        public ReadOnlySpan<byte> Current { get; private set; }

        /// <summary>Goes to the next frame.</summary>
        public bool MoveNext()
        {
            if (_rest.IsEmpty)
                return false;

            // The slicer has checked every length before the batch was made.
            var length = BinaryPrimitives.ReadInt32LittleEndian(_rest);
            Current = _rest.Slice(WireLimits.PrefixBytes, length);
            _rest = _rest[(WireLimits.PrefixBytes + length)..];
            return true;
        }
    }

    /// <summary>
    /// Counts the complete frames at the head of <paramref name="bytes"/> and their length in bytes.
    /// Returns false if a frame announces more than <paramref name="maxBody"/>; the frames before it are still good.
    /// </summary>
    internal static bool Measure(ReadOnlySpan<byte> bytes, int maxBody, out int frames, out int length)
    {
        frames = 0;
        length = 0;
        while (bytes.Length - length >= WireLimits.PrefixBytes)
        {
            var body = BinaryPrimitives.ReadUInt32LittleEndian(bytes[length..]);
            if (body > (uint)maxBody)
                return false;

            if (bytes.Length - length - WireLimits.PrefixBytes < (int)body)
                return true;

            length += WireLimits.PrefixBytes + (int)body;
            frames++;
        }

        return true;
    }
}
