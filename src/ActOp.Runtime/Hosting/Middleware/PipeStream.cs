using System.Buffers;
using System.IO.Pipelines;

namespace ActOp.Runtime.Hosting.Middleware;

/// <summary>
/// Two pipes as the stream that <see cref="System.Net.Security.SslStream"/> needs. Owns nothing: the pipes are those of the connection.
/// One reader and one writer at a time. A reader at the other end that has gone shows as an <see cref="IOException"/> of the write.
/// </summary>
internal sealed class PipeStream(IDuplexPipe pipes) : Stream
{
    public override bool CanRead => true;

    public override bool CanWrite => true;

    public override bool CanSeek => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (true)
        {
            var read = await pipes.Input.ReadAsync(cancellationToken).ConfigureAwait(false);
            var there = read.Buffer.Length;
            var taken = (int)Math.Min(there, buffer.Length);
            read.Buffer.Slice(0, taken).CopyTo(buffer.Span);
            pipes.Input.AdvanceTo(read.Buffer.GetPosition(taken));
            // An empty read asks whether bytes are there.
            if (taken > 0 || read.IsCompleted || (buffer.IsEmpty && there > 0))
                return taken;
            if (read.IsCanceled)
                throw new OperationCanceledException("The read was cancelled.", cancellationToken);
        }
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var flush = await pipes.Output.WriteAsync(buffer, cancellationToken).ConfigureAwait(false);
        if (flush.IsCompleted)
            throw new IOException("The connection is closed.");
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        => WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
