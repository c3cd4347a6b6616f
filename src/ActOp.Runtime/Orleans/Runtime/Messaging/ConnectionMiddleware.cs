using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Microsoft.AspNetCore.Connections;

namespace Orleans.Runtime.Messaging;

/// <summary>
/// A step of every connection of a chain (<see cref="Orleans.Configuration.SiloConnectionOptions"/>). One instance serves all connections,
/// many at a time.
/// </summary>
public interface IConnectionMiddleware
{
    /// <summary>
    /// Runs for a connection from its begin to its end. <paramref name="next"/> completes when the connection is closed; not to call it
    /// closes the connection.
    /// </summary>
    Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next);
}

/// <summary>
/// Frames for middleware that speaks with the other end before it calls on: 4 bytes of length (little endian; 1 + the payload's), one of
/// the kind, then the payload.
/// </summary>
public static class ConnectionFrameHelper
{
    /// <summary>The bytes before a payload.</summary>
    public const int FramePrefixSize = 5;

    /// <summary>The longest frame that is read if nothing else is said.</summary>
    public const int DefaultMaxFrameLength = 1024 * 1024;

    private const int LengthSize = sizeof(int);

    /// <summary>Sends a frame.</summary>
    /// <exception cref="InvalidOperationException">Nobody reads it: the connection is closed.</exception>
    public static ValueTask WriteFrameAsync(
        ConnectionContext connection, byte frameType, byte[] payload, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(connection);
        ArgumentNullException.ThrowIfNull(payload);
        return SendAsync(connection, frameType, payload, cancellationToken);
    }

    /// <summary>Sends a frame whose payload is written by <paramref name="writePayload"/>; if that throws, nothing is sent.</summary>
    /// <exception cref="InvalidOperationException">Nobody reads it: the connection is closed.</exception>
    public static ValueTask WriteFrameAsync(
        ConnectionContext connection, byte frameType, Action<IBufferWriter<byte>> writePayload, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(connection);
        ArgumentNullException.ThrowIfNull(writePayload);
        var payload = new ArrayBufferWriter<byte>();
        writePayload(payload);
        return SendAsync(connection, frameType, payload.WrittenMemory, cancellationToken);
    }

    /// <summary>Reads a frame. What follows it stays in the input.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <param name="maxFrameLength">The longest frame that is accepted, its kind included.</param>
    /// <exception cref="InvalidOperationException">The connection ended within the frame, or its length is not valid.</exception>
    public static async ValueTask<(byte FrameType, byte[] Payload)> ReadFrameAsync(
        ConnectionContext connection, CancellationToken cancellationToken, int maxFrameLength = DefaultMaxFrameLength)
    {
        ArgumentNullException.ThrowIfNull(connection);
        var prefix = new byte[FramePrefixSize];
        await FillAsync(connection, prefix.AsMemory(0, LengthSize), cancellationToken).ConfigureAwait(false);
        var length = BinaryPrimitives.ReadInt32LittleEndian(prefix);
        if (length < 1 || length > maxFrameLength)
            throw new InvalidOperationException("A frame of " + length + " bytes is not valid; the limit is " + maxFrameLength + ".");
        await FillAsync(connection, prefix.AsMemory(LengthSize), cancellationToken).ConfigureAwait(false);
        var payload = new byte[length - 1];
        await FillAsync(connection, payload, cancellationToken).ConfigureAwait(false);
        return (prefix[LengthSize], payload);
    }

    /// <summary>Writes a text with its length, for payloads.</summary>
    public static void WriteLengthPrefixedString(IBufferWriter<byte> writer, string value)
    {
        ArgumentNullException.ThrowIfNull(writer);
        ArgumentNullException.ThrowIfNull(value);
        var length = Encoding.UTF8.GetByteCount(value);
        var target = writer.GetSpan(LengthSize + length);
        BinaryPrimitives.WriteInt32LittleEndian(target, length);
        Encoding.UTF8.GetBytes(value, target[LengthSize..]);
        writer.Advance(LengthSize + length);
    }

    /// <summary>Reads a text of <see cref="WriteLengthPrefixedString"/> at <paramref name="offset"/>, and moves that behind it.</summary>
    /// <exception cref="InvalidOperationException">There is no such text.</exception>
    public static string ReadLengthPrefixedString(byte[] data, ref int offset)
    {
        ArgumentNullException.ThrowIfNull(data);
        if (offset < 0 || offset > data.Length - LengthSize)
            throw new InvalidOperationException("There is no length at " + offset + " of " + data.Length + " bytes.");
        var length = BinaryPrimitives.ReadInt32LittleEndian(data.AsSpan(offset));
        var start = offset + LengthSize;
        if (length < 0 || length > data.Length - start)
            throw new InvalidOperationException("A text of " + length + " bytes does not fit in " + (data.Length - start) + ".");
        offset = start + length;
        return Encoding.UTF8.GetString(data, start, length);
    }

    private static async ValueTask SendAsync(
        ConnectionContext connection, byte frameType, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken)
    {
        var output = connection.Transport.Output;
        WritePrefix(output, frameType, payload.Length);
        output.Write(payload.Span);
        var flush = await output.FlushAsync(cancellationToken).ConfigureAwait(false);
        if (flush.IsCanceled)
            throw new OperationCanceledException("The sending of a frame was cancelled.", cancellationToken);
        if (flush.IsCompleted)
            throw new InvalidOperationException("The connection is closed: nobody reads the frame.");
    }

    private static void WritePrefix(IBufferWriter<byte> output, byte frameType, int length)
    {
        var prefix = output.GetSpan(FramePrefixSize);
        BinaryPrimitives.WriteInt32LittleEndian(prefix, checked(length + 1));
        prefix[LengthSize] = frameType;
        output.Advance(FramePrefixSize);
    }

    /// <summary>Consumes what has arrived at once, so that a long frame needs no room in the pipe.</summary>
    private static async ValueTask FillAsync(ConnectionContext connection, Memory<byte> target, CancellationToken cancellationToken)
    {
        var input = connection.Transport.Input;
        while (!target.IsEmpty)
        {
            var read = await input.ReadAsync(cancellationToken).ConfigureAwait(false);
            var taken = (int)Math.Min(read.Buffer.Length, target.Length);
            read.Buffer.Slice(0, taken).CopyTo(target.Span);
            input.AdvanceTo(read.Buffer.GetPosition(taken));
            target = target[taken..];
            if (read.IsCanceled)
                throw new OperationCanceledException("The read of a frame was cancelled.", cancellationToken);
            if (read.IsCompleted && taken == 0)
                throw new InvalidOperationException("The connection ended within a frame.");
        }
    }
}
