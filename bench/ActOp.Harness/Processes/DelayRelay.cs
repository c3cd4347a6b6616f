using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using ActOp.Harness.Load;

namespace ActOp.Harness.Processes;

/// <summary>
/// A network with a round trip between processes of one machine, without rights of the administrator: listens on a loopback port, and
/// passes the bytes of each connection on to another port after half of a round trip, and back. The other end sees the address that the
/// connection came from, so that limits for each address stay. What is under way is bounded, so that an end that does not read holds up its
/// sender. Any thread.
/// </summary>
public sealed class DelayRelay : IDisposable
{
    private const int BufferBytes = 32 << 10;
    private const int ChunksUnderWay = 64;
    private readonly TcpListener _listener;
    private readonly int _target;
    private readonly DelayLine _line;
    private readonly ConcurrentDictionary<Socket, byte> _open = new();
    private volatile bool _isOver;

    /// <summary>Listens on <paramref name="port"/> and passes on to <paramref name="target"/>.</summary>
    public DelayRelay(int port, int target, DelayLine line)
    {
        (_target, _line) = (target, line);
        _listener = new TcpListener(IPAddress.Loopback, port);
        _listener.Start(4096);
        _ = AcceptAsync();
    }

    /// <summary>Closes all connections.</summary>
    public void Dispose()
    {
        _isOver = true;
        _listener.Dispose();
        foreach (var (socket, _) in _open)
            socket.Dispose();
    }

    private async Task AcceptAsync()
    {
        while (!_isOver)
        {
            try
            {
                _ = ServeAsync(await _listener.AcceptSocketAsync().ConfigureAwait(false));
            }
            catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
            {
                // Closed, or the other end has given up meanwhile.
            }
        }
    }

    private async Task ServeAsync(Socket from)
    {
        using var to = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using (from)
        {
            from.NoDelay = true;
            _open[from] = _open[to] = 0;
            try
            {
                // The opening takes a round trip, too.
                await _line.DelayAsync(_line.Now).ConfigureAwait(false);
                await _line.DelayAsync(_line.Now).ConfigureAwait(false);
                to.Bind(new IPEndPoint(((IPEndPoint)from.RemoteEndPoint!).Address.MapToIPv4(), 0));
                await to.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _target)).ConfigureAwait(false);
                await Task.WhenAny(PassAsync(from, to), PassAsync(to, from)).Unwrap().ConfigureAwait(false);
            }
            catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
            {
                // Both ends are closed below.
            }
            finally
            {
                _open.TryRemove(from, out _);
                _open.TryRemove(to, out _);
            }
        }
    }

    /// <summary>One way: one loop reads and stamps, the other one sends when the time has come.</summary>
    private async Task PassAsync(Socket from, Socket to)
    {
        var way = System.Threading.Channels.Channel.CreateBounded<(byte[] Bytes, int Count, TimeSpan Read)>(ChunksUnderWay);
        var reading = ReadAsync(from, way.Writer);
        await foreach (var (bytes, count, read) in way.Reader.ReadAllAsync().ConfigureAwait(false))
        {
            await _line.DelayAsync(read).ConfigureAwait(false);
            for (var sent = 0; sent < count;)
                sent += await to.SendAsync(bytes.AsMemory(sent, count - sent)).ConfigureAwait(false);
            System.Buffers.ArrayPool<byte>.Shared.Return(bytes);
        }

        await _line.DelayAsync(_line.Now).ConfigureAwait(false);
        await reading.ConfigureAwait(false);
    }

    private async Task ReadAsync(Socket from, System.Threading.Channels.ChannelWriter<(byte[] Bytes, int Count, TimeSpan Read)> way)
    {
        try
        {
            while (true)
            {
                // Thousands of connections say nothing: those hold no buffer.
                await from.ReceiveAsync(Memory<byte>.Empty).ConfigureAwait(false);
                var bytes = System.Buffers.ArrayPool<byte>.Shared.Rent(BufferBytes);
                var count = await from.ReceiveAsync(bytes).ConfigureAwait(false);
                if (count == 0)
                    break;
                await way.WriteAsync((bytes, count, _line.Now)).ConfigureAwait(false);
            }
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // The way ends here; what was read before still arrives.
        }

        way.Complete();
    }
}

/// <summary>
/// Waits of one length, precise to about 0.1 ms, for any number of waiters: as all wait equally long, they end in the order of their
/// beginning. One thread.
/// </summary>
public sealed class DelayLine : IDisposable
{
    private readonly MonotonicClock _clock = new();
    private readonly BlockingCollection<(TimeSpan Due, TaskCompletionSource Waiter)> _waiters = [];
    private readonly TimeSpan _delay;

    /// <summary>Starts the thread.</summary>
    public DelayLine(TimeSpan delay)
    {
        _delay = delay;
        new Thread(Run) { IsBackground = true, Name = "delay line" }.Start();
    }

    /// <summary>The clock of the waits.</summary>
    public TimeSpan Now => _clock.Now;

    /// <summary>Completes when the delay has passed since <paramref name="begin"/>.</summary>
    public Task DelayAsync(TimeSpan begin)
    {
        if (_delay == TimeSpan.Zero || begin + _delay <= _clock.Now)
            return Task.CompletedTask;
        var waiter = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiters.Add((begin + _delay, waiter));
        return waiter.Task;
    }

    /// <summary>Ends the thread when nobody waits any more.</summary>
    public void Dispose() => _waiters.CompleteAdding();

    private void Run()
    {
        foreach (var (due, waiter) in _waiters.GetConsumingEnumerable())
        {
            _clock.WaitUntil(due);
            waiter.TrySetResult();
        }

        _waiters.Dispose();
    }
}
