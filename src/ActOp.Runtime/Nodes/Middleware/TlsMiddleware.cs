#pragma warning disable SYSLIB0058 // The algorithms apart from the cipher suite: members of the contract, which .NET still answers.
using System.Buffers;
using System.IO.Pipelines;
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using ActOp.Runtime.Nodes.Tls;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http.Features;
using Orleans.Connections.Security;

namespace ActOp.Runtime.Nodes.Middleware;

/// <summary>
/// TLS as a step of a chain: an <see cref="SslStream"/> over the pipes below, and pipes over it for the steps above. One instance serves
/// all connections; of each it holds the stream while the rest of the chain runs.
/// <para>Failures: a handshake that fails, or takes longer than <see cref="TlsOptions.HandshakeTimeout"/>, throws, which closes the
/// connection with a log line that says what was wrong with the certificate. The limit of the mesh holds beside it.</para>
/// <para>The end: the completion of the output is passed on as the end of the output below. It is not announced by close_notify, because a
/// shutdown of an SslStream may not run beside a read; so an end that somebody on the way has caused looks the same.</para>
/// </summary>
internal sealed class TlsMiddleware(TlsAuthentication tls, bool isServer)
{
    public async Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
    {
        var below = context.Transport;
        var stream = new PipeStream(below);
        var ssl = new SslStream(stream, leaveInnerStreamOpen: true);
        await using (ssl.ConfigureAwait(false))
        {
            await AuthenticateAsync(context, ssl).ConfigureAwait(false);
            TlsFeatures.Set(context.Features, ssl);
            var pipes = new TlsPipes(ssl, below.Output);
            context.Transport = pipes;
            try
            {
                await next(context).ConfigureAwait(false);
            }
            finally
            {
                context.Transport = below;
                await pipes.Input.CompleteAsync().ConfigureAwait(false);
            }
        }
    }

    private async Task AuthenticateAsync(ConnectionContext context, SslStream ssl)
    {
        var refusal = "";
        using var limit = new CancellationTokenSource(tls.Limit, tls.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, context.ConnectionClosed);
        var own = context.Features.Get<MiddlewareConnection>();
        try
        {
            if (isServer)
            {
                var options = tls.Server(context, own?.IsGateway ?? true, why => refusal = why);
                await ssl.AuthenticateAsServerAsync(options, either.Token).ConfigureAwait(false);
            }
            else
            {
                var options = tls.Client(context, own?.IsSilo ?? false, why => refusal = why);
                await ssl.AuthenticateAsClientAsync(options, either.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException exception) when (limit.IsCancellationRequested)
        {
            throw new TimeoutException(
                "The TLS handshake has not ended within " + tls.Limit + " (TlsOptions.HandshakeTimeout).", exception);
        }
        catch (AuthenticationException exception) when (refusal.Length > 0)
        {
            throw new AuthenticationException("The TLS handshake failed: " + refusal, exception);
        }
    }

    /// <summary>The pipes over an SslStream.</summary>
    private sealed class TlsPipes(SslStream ssl, PipeWriter below) : IDuplexPipe
    {
        public PipeReader Input { get; } = PipeReader.Create(
            ssl, new StreamPipeReaderOptions(bufferSize: 16 << 10, leaveOpen: true, useZeroByteReads: true));

        public PipeWriter Output { get; } = new TlsOutput(
            PipeWriter.Create(ssl, new StreamPipeWriterOptions(minimumBufferSize: 16 << 10, leaveOpen: true)), below);
    }

    /// <summary>The output of an SslStream, whose completion completes the output below too.</summary>
    private sealed class TlsOutput(PipeWriter inner, PipeWriter below) : PipeWriter
    {
        public override bool CanGetUnflushedBytes => inner.CanGetUnflushedBytes;

        public override long UnflushedBytes => inner.UnflushedBytes;

        public override void Advance(int bytes) => inner.Advance(bytes);

        public override Memory<byte> GetMemory(int sizeHint = 0) => inner.GetMemory(sizeHint);

        public override Span<byte> GetSpan(int sizeHint = 0) => inner.GetSpan(sizeHint);

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
            => inner.FlushAsync(cancellationToken);

        public override void CancelPendingFlush() => inner.CancelPendingFlush();

        public override void Complete(Exception? exception = null)
        {
            inner.Complete(exception);
            below.Complete(exception);
        }

        public override async ValueTask CompleteAsync(Exception? exception = null)
        {
            await inner.CompleteAsync(exception).ConfigureAwait(false);
            await below.CompleteAsync(exception).ConfigureAwait(false);
        }
    }
}

/// <summary>
/// Two pipes as the stream that <see cref="SslStream"/> needs. Owns nothing: the pipes are those of the connection.
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

/// <summary>What a handshake of TLS has found, for the features of a connection.</summary>
internal sealed class TlsFeatures : ITlsConnectionFeature, ITlsHandshakeFeature, ITlsApplicationProtocolFeature
{
    private TlsFeatures(SslStream ssl)
    {
        RemoteCertificate = ssl.RemoteCertificate as X509Certificate2;
        Protocol = ssl.SslProtocol;
        NegotiatedCipherSuite = ssl.NegotiatedCipherSuite;
        HostName = ssl.TargetHostName;
        CipherAlgorithm = ssl.CipherAlgorithm;
        CipherStrength = ssl.CipherStrength;
        HashAlgorithm = ssl.HashAlgorithm;
        HashStrength = ssl.HashStrength;
        KeyExchangeAlgorithm = ssl.KeyExchangeAlgorithm;
        KeyExchangeStrength = ssl.KeyExchangeStrength;
        ApplicationProtocol = ssl.NegotiatedApplicationProtocol.Protocol;
    }

    public X509Certificate2? RemoteCertificate { get; set; }

    public SslProtocols Protocol { get; }

    public TlsCipherSuite? NegotiatedCipherSuite { get; }

    public string HostName { get; }

    public CipherAlgorithmType CipherAlgorithm { get; }

    public int CipherStrength { get; }

    public HashAlgorithmType HashAlgorithm { get; }

    public int HashStrength { get; }

    public ExchangeAlgorithmType KeyExchangeAlgorithm { get; }

    public int KeyExchangeStrength { get; }

    public ReadOnlyMemory<byte> ApplicationProtocol { get; }

    public Task<X509Certificate2?> GetRemoteCertificateAsync(CancellationToken cancellationToken) => Task.FromResult(RemoteCertificate);

    internal static void Set(IFeatureCollection features, SslStream ssl)
    {
        var found = new TlsFeatures(ssl);
        features.Set<ITlsConnectionFeature>(found);
        features.Set<ITlsHandshakeFeature>(found);
        features.Set<ITlsApplicationProtocolFeature>(found);
    }
}
