using System.Globalization;
using System.Text;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Contracts;

/// <summary>By what a method is known in OrleansContracts.txt.</summary>
internal static class WireIdentity
{
    /// <summary>
    /// The method's [Id], or its [Alias], or what Orleans makes of a method without either: XXH32 of
    /// <c>global::Namespace.Interface.Method&lt;T>(global::Parameter,...)</c> in UTF-8, as eight hexadecimal digits.
    /// </summary>
    public static string IdentityOf(IMethodSymbol method)
    {
        if (Reading.Attributes.Number(method) is { } id)
            return id.ToString(CultureInfo.InvariantCulture);
        if (Reading.Attributes.Text(method, Reading.Attributes.Alias) is { } alias)
            return alias;
        var text = new StringBuilder(Qualified(method.ContainingType)).Append('.').Append(method.Name);
        if (method.IsGenericMethod)
            text.Append('<').Append(string.Join(",", method.TypeParameters.Select(static t => t.Name))).Append('>');
        text.Append('(').Append(string.Join(",", method.Parameters.Select(static p => Qualified(p.Type)))).Append(')');
        return Xxh32(Encoding.UTF8.GetBytes(text.ToString())).ToString("X8", CultureInfo.InvariantCulture);
    }

    /// <summary>The identity without what would end it in a line of the file.</summary>
    public static string Escape(string identity)
    {
        var text = new StringBuilder(identity.Length);
        foreach (var c in identity)
        {
            switch (c)
            {
                case '\\' or ':' or '#':
                    text.Append('\\').Append(c);
                    break;
                case ' ':
                    text.Append("\\s");
                    break;
                case '\r':
                    text.Append("\\r");
                    break;
                case '\n':
                    text.Append("\\n");
                    break;
                case '\t':
                    text.Append("\\t");
                    break;
                default:
                    if (char.IsWhiteSpace(c) || char.IsControl(c))
                        text.Append("\\u").Append(((int)c).ToString("X4", CultureInfo.InvariantCulture));
                    else
                        text.Append(c);
                    break;
            }
        }

        return text.ToString();
    }

    /// <summary>Takes back <see cref="Escape"/>. A backslash before anything else stands for itself.</summary>
    public static string Unescape(string text)
    {
        var identity = new StringBuilder(text.Length);
        for (var i = 0; i < text.Length; i++)
        {
            var next = text[i] == '\\' && i + 1 < text.Length ? text[i + 1] : '\0';
            var plain = next switch { '\\' or ':' or '#' => next, 's' => ' ', 'r' => '\r', 'n' => '\n', 't' => '\t', _ => '\0' };
            if (plain != '\0')
            {
                identity.Append(plain);
                i++;
            }
            else if (next == 'u' && i + 5 < text.Length
                && ushort.TryParse(text.Substring(i + 2, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var code))
            {
                identity.Append((char)code);
                i += 5;
            }
            else
            {
                identity.Append(text[i]);
            }
        }

        return identity.ToString();
    }

    private static string Qualified(ITypeSymbol type) =>
        type is ITypeParameterSymbol ? type.Name : type.ToDisplayString(SymbolDisplayFormat.FullyQualifiedFormat);

    /// <summary>XXH32 with the seed 0 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).</summary>
    internal static uint Xxh32(byte[] data)
    {
        const uint p1 = 2654435761, p2 = 2246822519, p3 = 3266489917, p4 = 668265263, p5 = 374761393;
        var at = 0;
        uint hash;
        unchecked
        {
            if (data.Length >= 16)
            {
                uint a = p1 + p2, b = p2, c = 0, d = 0 - p1;
                for (; at + 16 <= data.Length; at += 16)
                {
                    a = Rotate(a + (Word(data, at) * p2), 13) * p1;
                    b = Rotate(b + (Word(data, at + 4) * p2), 13) * p1;
                    c = Rotate(c + (Word(data, at + 8) * p2), 13) * p1;
                    d = Rotate(d + (Word(data, at + 12) * p2), 13) * p1;
                }

                hash = Rotate(a, 1) + Rotate(b, 7) + Rotate(c, 12) + Rotate(d, 18);
            }
            else
            {
                hash = p5;
            }

            hash += (uint)data.Length;
            for (; at + 4 <= data.Length; at += 4)
                hash = Rotate(hash + (Word(data, at) * p3), 17) * p4;
            for (; at < data.Length; at++)
                hash = Rotate(hash + (data[at] * p5), 11) * p1;
            hash = (hash ^ (hash >> 15)) * p2;
            hash = (hash ^ (hash >> 13)) * p3;
            return hash ^ (hash >> 16);
        }
    }

    private static uint Rotate(uint value, int bits) => (value << bits) | (value >> (32 - bits));

    private static uint Word(byte[] data, int at) =>
        data[at] | ((uint)data[at + 1] << 8) | ((uint)data[at + 2] << 16) | ((uint)data[at + 3] << 24);
}
