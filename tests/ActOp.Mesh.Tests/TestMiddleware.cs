using System.Buffers;
using System.Collections.Concurrent;
using System.IO.Pipelines;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Piped;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh.Tests;

/// <summary>Middleware of a node, the same for what it dials and accepts; records its log.</summary>
internal sealed class TestMiddleware : ILogger
{
    public Func<PipedConnection, Task> Run { get; set; } = static connection => connection.CarryAsync(connection.Transport);

    public bool OnPool { get; init; }

    /// <summary>Whether there is middleware at the endpoints where this node listens.</summary>
    public bool Accepts { get; set; } = true;

    public TimeSpan? CloseTimeout { get; init; }

    public ConcurrentQueue<string> Log { get; } = [];

    public CountingPool Pool { get; } = new();

    public PipedTransport Transport { get; private set; } = null!;

    /// <summary>Whether nothing is left of any connection.</summary>
    public bool IsEmpty => Transport.Running == 0 && Transport.Open == 0 && Pool.Rented == 0;

    public Transport Over(Transport inner, TimeProvider time) => Transport = new PipedTransport(inner, new PipedSettings
    {
        Accepted = _ => Accepts ? connection => Run(connection) : null,
        Dialled = connection => Run(connection),
        Scheduler = OnPool ? PipeScheduler.ThreadPool : PipeScheduler.Inline,
        Time = time,
        CloseTimeout = CloseTimeout ?? TimeSpan.FromSeconds(1),
        Pool = Pool,
    }, this);

    public bool Tells(int id) => Log.Any(line => line.StartsWith(id + ":", StringComparison.Ordinal));

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        => Log.Enqueue($"{eventId.Id}: {formatter(state, exception)}");
}

/// <summary>A pool that counts what it has lent.</summary>
internal sealed class CountingPool : MemoryPool<byte>
{
    private int _rented;
    private int _most;

    public int Rented => Volatile.Read(ref _rented);

    /// <summary>The most bytes ever lent at once.</summary>
    public int MostBytes => Volatile.Read(ref _most);

    public override int MaxBufferSize => Shared.MaxBufferSize;

    public override IMemoryOwner<byte> Rent(int minBufferSize = -1) => new Owner(this, Shared.Rent(minBufferSize));

    protected override void Dispose(bool disposing)
    {
    }

    private void Count(int bytes)
    {
        var rented = Interlocked.Add(ref _rented, bytes);
        for (var most = _most; rented > most; most = _most)
        {
            Interlocked.CompareExchange(ref _most, rented, most);
        }
    }

    private sealed class Owner : IMemoryOwner<byte>
    {
        private readonly CountingPool _pool;
        private readonly IMemoryOwner<byte> _inner;
        private readonly int _bytes;

        public Owner(CountingPool pool, IMemoryOwner<byte> inner)
        {
            (_pool, _inner, _bytes) = (pool, inner, inner.Memory.Length);
            pool.Count(_bytes);
        }

        public Memory<byte> Memory => _inner.Memory;

        public void Dispose()
        {
            _inner.Dispose();
            _pool.Count(-_bytes);
        }
    }
}

/// <summary>Middleware that changes bytes.</summary>
internal static class Bytes
{
    /// <summary>Pipes whose ends continue on the thread that makes bytes or room.</summary>
    public static PipeOptions Inline { get; } = new(
        readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline, useSynchronizationContext: false);

    /// <summary>Inverts some bits of every byte in both directions, by pipes of its own; passes both ends on.</summary>
    public static Task Xored(PipedConnection connection) => ThroughAsync(connection, static _ => { });

    /// <summary>As <see cref="Xored"/>, and tells the bytes that pass outwards.</summary>
    public static async Task ThroughAsync(PipedConnection connection, Action<int> seen)
    {
        var (near, far) = (new Pipe(Inline), new Pipe(Inline));
        var receiving = CopyAsync(connection.Transport.Input, near.Writer, static _ => { });
        var sending = CopyAsync(far.Reader, connection.Transport.Output, seen);
        await connection.CarryAsync(new Pair(near.Reader, far.Writer)).ConfigureAwait(false);
        await Task.WhenAll(receiving, sending).ConfigureAwait(false);
    }

    private static async Task CopyAsync(PipeReader from, PipeWriter to, Action<int> seen)
    {
        while (true)
        {
            var read = await from.ReadAsync().ConfigureAwait(false);
            foreach (var segment in read.Buffer)
            {
                var target = to.GetSpan(segment.Length);
                for (var i = 0; i < segment.Length; i++)
                {
                    target[i] = (byte)(segment.Span[i] ^ 0x5A);
                }

                to.Advance(segment.Length);
                seen(segment.Length);
            }

            from.AdvanceTo(read.Buffer.End);
            var flush = await to.FlushAsync().ConfigureAwait(false);
            if (read.IsCompleted || flush.IsCompleted)
            {
                break;
            }
        }

        await from.CompleteAsync().ConfigureAwait(false);
        await to.CompleteAsync().ConfigureAwait(false);
    }

    public sealed record Pair(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
