using System.Text;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>
/// Grain ids as text of the database: as they are written everywhere, <c>type/key</c>. Bytes that are not UTF-8, zeros and backslashes
/// become <c>\xx</c>, so that different grains have different texts.
/// </summary>
internal static class GrainKeys
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    internal static string TextOf(GrainId grain) => TextOf(grain.Type.AsSpan()) + "/" + TextOf(grain.Key.AsSpan());

    /// <summary>The grain of a text that <see cref="TextOf(GrainId)"/> has made.</summary>
    internal static GrainId Parse(string text)
    {
        var slash = text.IndexOf('/', StringComparison.Ordinal);
        return slash > 0
            ? GrainId.Create(new GrainType(BytesOf(text.AsSpan(0, slash))), new IdSpan(BytesOf(text.AsSpan(slash + 1))))
            : throw new FormatException("\"" + text + "\" is no grain id.");
    }

    private static byte[] BytesOf(ReadOnlySpan<char> text)
    {
        if (!text.Contains('\\'))
            return Strict.GetBytes(text.ToArray());
        var bytes = new List<byte>(text.Length);
        for (var at = 0; at < text.Length; at++)
        {
            if (text[at] != '\\')
            {
                bytes.Add((byte)text[at]);
                continue;
            }

            bytes.Add(Convert.FromHexString(text.Slice(at + 1, 2))[0]);
            at += 2;
        }

        return [.. bytes];
    }

    private static string TextOf(ReadOnlySpan<byte> bytes)
    {
        if (!bytes.ContainsAny((byte)0, (byte)'\\'))
        {
            try
            {
                return Strict.GetString(bytes);
            }
            catch (DecoderFallbackException)
            {
                // Escaped below.
            }
        }

        var text = new StringBuilder();
        foreach (var one in bytes)
        {
            if (one is 0 or (byte)'\\' or > 0x7F)
                text.Append('\\').Append(one.ToString("x2", System.Globalization.CultureInfo.InvariantCulture));
            else
                text.Append((char)one);
        }

        return text.ToString();
    }
}
