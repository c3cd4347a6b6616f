using System.Text;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>
/// Grain ids as text of the database: as they are written everywhere, <c>type/key</c>. Bytes that are not UTF-8, zeros and backslashes become
/// <c>\xx</c>, so that different grains have different texts.
/// </summary>
internal static class GrainKeys
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    internal static string TextOf(GrainId grain) => TextOf(grain.Type.AsSpan()) + "/" + TextOf(grain.Key.AsSpan());

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
