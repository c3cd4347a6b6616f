using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.PostgreSql.Storage;

/// <summary>By what a row of OrleansStorage is found, beside the service: as Orleans computes it.</summary>
/// <remarks>
/// The row does not say the class of the grain: two classes with the same name of a state and the same key share it, as in Orleans.
/// </remarks>
/// <param name="IdHash">The hash of the key.</param>
/// <param name="N0">The first half of a Guid; 0 for other keys.</param>
/// <param name="N1">The second half of a Guid, or the number; 0 for a text.</param>
/// <param name="Text">The text, or what extends a Guid or a number; null for nothing.</param>
/// <param name="TypeHash">The hash of the name of the state.</param>
internal sealed record OrleansKey(int IdHash, long N0, long N1, string? Text, int TypeHash)
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>
    /// Null if the table cannot tell the grain from others: its key is no text, or the name of the state is a generic type.
    /// </summary>
    /// <exception cref="OrleansException">The picker has picked no hash.</exception>
    internal static OrleansKey? KeyOf<T>(
        IStorageHasherPicker picker, string serviceId, string storage, string stateName, GrainId grain, IGrainState<T> state)
    {
        // Orleans changes the names of generic types before it writes them, which only the names of version 3 were.
        if (stateName.Contains('`', StringComparison.Ordinal) || !TrySplit(grain.Key.AsSpan(), out var key))
            return null;
        // A picker may look at what it hashes, so it picks twice, as in Orleans.
        var idHash = Picked().Hash(key.HashedBytes());
        var typeHash = Picked().Hash(Encoding.UTF8.GetBytes(stateName));
        return new OrleansKey(idHash, key.N0, key.N1, key.Text, typeHash);

        IHasher Picked() => picker.PickHasher(serviceId, storage, stateName, grain, state) ?? throw new OrleansException(
            "AdoNetGrainStorageOptions.HashPicker of the storage " + storage + " has picked no hash for " + grain + ".");
    }

    /// <summary>A text of hex digits counts as a number, as in Orleans, with leading zeros or without.</summary>
    private static bool TrySplit(ReadOnlySpan<byte> key, out SplitKey parts)
    {
        const int guidLength = 32;
        parts = default;
        string? extension = null;
        if ((key.Length == guidLength || (key.Length > guidLength && key[guidLength] == '+'))
            && Utf8Parser.TryParse(key[..guidLength], out Guid guid, out var read, 'N') && read == guidLength
            && (key.Length == guidLength || TryText(key[(guidLength + 1)..], out extension)))
        {
            parts = new SplitKey(guid, extension);
            return true;
        }

        var plus = key.IndexOf((byte)'+');
        var digits = plus < 0 ? key : key[..plus];
        if (Utf8Parser.TryParse(digits, out long number, out read, 'X') && read == digits.Length)
        {
            if (plus >= 0 && !TryText(key[(plus + 1)..], out extension))
                return false;
            parts = new SplitKey(number, extension);
            return true;
        }

        if (!TryText(key, out var text))
            return false;
        parts = new SplitKey(text);
        return true;
    }

    /// <summary>What is no UTF-8, or has a zero, the table cannot hold.</summary>
    private static bool TryText(ReadOnlySpan<byte> bytes, [NotNullWhen(true)] out string? text)
    {
        text = null;
        if (bytes.Contains((byte)0))
            return false;
        try
        {
            text = Strict.GetString(bytes);
            return true;
        }
        catch (DecoderFallbackException)
        {
            return false;
        }
    }

    /// <summary>A key, split into the columns of the table.</summary>
    private readonly struct SplitKey
    {
        private readonly byte[] _number;

        internal SplitKey(Guid guid, string? extension)
        {
            _number = guid.ToByteArray();
            N0 = BitConverter.ToInt64(_number, 0);
            N1 = BitConverter.ToInt64(_number, 8);
            Text = extension;
        }

        internal SplitKey(long number, string? extension)
        {
            _number = BitConverter.GetBytes(number);
            N1 = number;
            Text = extension;
        }

        internal SplitKey(string text)
        {
            _number = [];
            Text = text;
        }

        internal long N0 { get; }

        internal long N1 { get; }

        internal string? Text { get; }

        /// <summary>The number or Guid, little end first, then the text; all of it from the last byte to the first.</summary>
        internal byte[] HashedBytes()
        {
            byte[] bytes = [.. _number, .. Encoding.UTF8.GetBytes(Text ?? "")];
            Array.Reverse(bytes);
            return bytes;
        }
    }
}
