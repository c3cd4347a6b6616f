using System.Buffers.Text;
using System.Text;

namespace Orleans.Runtime;

/// <summary>Converts between grain keys and the Guids, numbers and key extensions that they stand for.</summary>
/// <remarks>
/// A Guid key is 32 lower-case hex digits; a number is its 64 bits in upper-case hex without padding; an extension
/// follows after a plus sign, as it is.
/// </remarks>
public static class GrainIdKeyExtensions
{
    private const int GuidLength = 32;
    private const int MaxIntegerLength = 16;

    /// <summary>The key of a Guid with an extension in UTF-8; without one when it is empty.</summary>
    public static IdSpan CreateGuidKey(Guid key, ReadOnlySpan<byte> keyExtension)
    {
        Span<byte> text = stackalloc byte[GuidLength];
        Utf8Formatter.TryFormat(key, text, out _, 'N');
        return Join(text, keyExtension);
    }

    /// <summary>The key of a Guid with an extension; without one when it is null, empty or blank.</summary>
    public static IdSpan CreateGuidKey(Guid key, string? keyExtension) =>
        string.IsNullOrWhiteSpace(keyExtension) ? CreateGuidKey(key) : CreateGuidKey(key, Encoding.UTF8.GetBytes(keyExtension));

    /// <summary>The key of a Guid.</summary>
    public static IdSpan CreateGuidKey(Guid key) => CreateGuidKey(key, []);

    /// <summary>The key of a number with an extension in UTF-8; without one when it is empty.</summary>
    public static IdSpan CreateIntegerKey(long key, ReadOnlySpan<byte> keyExtension)
    {
        Span<byte> text = stackalloc byte[MaxIntegerLength];
        Utf8Formatter.TryFormat(key, text, out var length, 'X');
        return Join(text[..length], keyExtension);
    }

    /// <summary>The key of a number with an extension; without one when it is null, empty or blank.</summary>
    public static IdSpan CreateIntegerKey(long key, string? keyExtension) =>
        string.IsNullOrWhiteSpace(keyExtension) ? CreateIntegerKey(key) : CreateIntegerKey(key, Encoding.UTF8.GetBytes(keyExtension));

    /// <summary>The key of a number.</summary>
    public static IdSpan CreateIntegerKey(long key) => CreateIntegerKey(key, []);

    /// <summary>The Guid that the key stands for, and its extension or null.</summary>
    /// <exception cref="ArgumentException">The key is no Guid.</exception>
    public static Guid GetGuidKey(this GrainId grainId, out string? keyExt) =>
        grainId.TryGetGuidKey(out var key, out keyExt) ? key : throw new ArgumentException("The key of grain " + grainId + " is not a Guid.", nameof(grainId));

    /// <summary>The Guid that the key stands for.</summary>
    /// <exception cref="ArgumentException">The key is no Guid.</exception>
    public static Guid GetGuidKey(this GrainId grainId) => grainId.GetGuidKey(out _);

    /// <summary>The number that the key stands for, and its extension or null.</summary>
    /// <exception cref="ArgumentException">The key is no number.</exception>
    public static long GetIntegerKey(this GrainId grainId, out string? keyExt) =>
        grainId.TryGetIntegerKey(out var key, out keyExt) ? key : throw new ArgumentException("The key of grain " + grainId + " is not a number.", nameof(grainId));

    /// <summary>The number that the key stands for.</summary>
    /// <exception cref="ArgumentException">The key is no number.</exception>
    public static long GetIntegerKey(this GrainId grainId) => grainId.GetIntegerKey(out _);

    /// <summary>The Guid that the key stands for, and its extension or null; false when it is no Guid.</summary>
    public static bool TryGetGuidKey(this GrainId grainId, out Guid key, out string? keyExt)
    {
        key = default;
        var text = Split(grainId.Key.AsSpan(), out keyExt);
        if (text.Length == GuidLength && Utf8Parser.TryParse(text, out key, out var read, 'N') && read == GuidLength)
            return true;
        keyExt = null;
        return false;
    }

    /// <summary>The number that the key stands for, and its extension or null; false when it is no number.</summary>
    public static bool TryGetIntegerKey(this GrainId grainId, out long key, out string? keyExt)
    {
        key = default;
        var text = Split(grainId.Key.AsSpan(), out keyExt);
        if (text.Length is > 0 and <= MaxIntegerLength && Utf8Parser.TryParse(text, out key, out var read, 'X') && read == text.Length)
            return true;
        key = default;
        keyExt = null;
        return false;
    }

    private static IdSpan Join(ReadOnlySpan<byte> key, ReadOnlySpan<byte> extension)
    {
        if (extension.IsEmpty)
            return new IdSpan(key.ToArray());
        var joined = new byte[key.Length + 1 + extension.Length];
        key.CopyTo(joined);
        joined[key.Length] = (byte)'+';
        extension.CopyTo(joined.AsSpan(key.Length + 1));
        return new IdSpan(joined);
    }

    private static ReadOnlySpan<byte> Split(ReadOnlySpan<byte> key, out string? extension)
    {
        extension = null;
        var plus = key.IndexOf((byte)'+');
        if (plus < 0)
            return key;
        extension = Encoding.UTF8.GetString(key[(plus + 1)..]);
        return key[..plus];
    }
}
