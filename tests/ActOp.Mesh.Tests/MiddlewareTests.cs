using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using ActOp.Mesh.Transports.Piped;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

/// <summary>
/// What middleware of connections sees and may do, what its failures lead to, and that it leaves nothing. <see cref="Wire.PipedMemory"/>
/// and <see cref="Wire.PipedTcp"/> repeat the tests of links and nodes with middleware.
/// </summary>
public sealed class MiddlewareTests : IDisposable
{
    private static readonly TimeSpan Limit = new MeshOptions().HandshakeTimeout;
    private readonly TestMesh _mesh = new(Wire.Memory);
    private readonly List<TestMiddleware> _all = [];

    public void Dispose() => _mesh.Dispose();

    [Fact]
    public void Middleware_that_changes_nothing_needs_no_task_and_an_orderly_close_loses_nothing()
    {
        var threads = new HashSet<int>();
        _mesh.Network.Delay = (_, _) =>
        {
            threads.Add(Environment.CurrentManagedThreadId);
            return TimeSpan.Zero;
        };
        var (a, b) = (Add("a"), Add("b"));
        var peer = Connect(a.Node, b.Node);
        for (var i = 0; i < 300; i++)
        {
            peer.GetLink(0)!.TryAppend(Number(i, 4 + (37 * i)));
        }

        peer.Close();
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.Equal(Enumerable.Range(0, 300), b.Node.AllFrames.Select(frame => Number(frame)));
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
        NothingIsLeft();
        Assert.All(_all, middleware => Assert.Empty(middleware.Log));
    }

    [Fact]
    public void Middleware_at_one_end_sees_the_ends_of_a_connection_and_the_bytes_that_pass()
    {
        var (bytes, seen) = (0, new List<PipedConnection>());
        var b = Add("b", connection =>
        {
            seen.Add(connection);
            return connection.CarryAsync(new Bytes.Pair(connection.Transport.Input, new Counted(connection.Transport.Output, n => bytes += n)));
        });
        var a = _mesh.Add("a");
        Connect(a, b.Node);
        var link = b.Node.Connected[0].GetLink(0)!;
        link.TryAppend(new byte[100_000]);
        _mesh.Until(() => a.AllFrames.Any());
        Assert.True(bytes > 100_000, "bytes " + bytes);
        Assert.Equal(2, seen.Count);
        Assert.All(seen, connection => Assert.Equal((b.Node.EndPoint, b.Node.EndPoint, a.EndPoint),
            (connection.ListenEndPoint, connection.LocalEndPoint, connection.RemoteEndPoint)));
    }

    [Fact]
    public void Endpoints_without_middleware_are_those_of_the_inner_transport()
    {
        var runs = 0;
        var b = Add("b", connection =>
        {
            runs++;
            return connection.CarryAsync(connection.Transport);
        });
        b.Middleware.Accepts = false;
        var silent = _mesh.Add("c", wrap: inner => b.Middleware.Over(inner, _mesh.Clock));
        Connect(_mesh.Add("a"), silent);
        Assert.Equal((0, 0), (runs, b.Middleware.Transport.Open));
        Assert.Equal(2, silent.Mesh.LinkCount);
    }

    [Fact]
    public void Both_ends_may_exchange_bytes_before_the_link()
    {
        var answers = new List<string>();
        var a = Add("a", async connection =>
        {
            await SayAsync(connection, "token").ConfigureAwait(false);
            answers.Add(await HearAsync(connection, 2).ConfigureAwait(false));
            await connection.CarryAsync(connection.Transport).ConfigureAwait(false);
        });
        var b = Add("b", async connection =>
        {
            answers.Add(await HearAsync(connection, 5).ConfigureAwait(false));
            await SayAsync(connection, "ok").ConfigureAwait(false);
            await connection.CarryAsync(connection.Transport).ConfigureAwait(false);
        });
        Exchange(Connect(a.Node, b.Node), a.Node, b.Node);
        Assert.Equal(["token", "token", "ok", "ok"], answers.Order(StringComparer.Ordinal).Reverse());
    }

    [Theory, InlineData(true), InlineData(false)]
    public void Middleware_that_throws_closes_the_connection_with_a_log_line(bool dialler)
    {
        Func<PipedConnection, Task> bad = static _ => throw new InvalidOperationException("no");
        var (a, b) = (Add("a", dialler ? bad : null), Add("b", dialler ? null : bad));
        a.Node.Mesh.Connect(b.Node.EndPoint).Keep = false;
        _mesh.Until(() => a.Node.Events.Count == 1 && b.Node.Mesh.LinkCount == 0);
        Assert.Equal([dialler ? "!ConnectFailed" : "!PeerClosed"], a.Node.Events);
        Assert.Empty(b.Node.Events);
        Assert.True((dialler ? a : b).Middleware.Tells(1330));
        Assert.False((dialler ? b : a).Middleware.Tells(1330));
        NothingIsLeft();
    }

    [Fact]
    public void Middleware_that_does_not_call_on_closes_the_connection_when_it_returns()
    {
        var (a, b) = (Add("a"), Add("b", static _ => Task.CompletedTask));
        a.Node.Mesh.Connect(b.Node.EndPoint).Keep = false;
        _mesh.Until(() => a.Node.Events.Count == 1 && b.Node.Mesh.LinkCount == 0);
        Assert.Contains(b.Middleware.Log, line => line.StartsWith("1331") && line.Contains("without calling on"));
        NothingIsLeft();
    }

    [Fact]
    public void Middleware_that_returns_before_the_link_has_ended_closes_it()
    {
        var returns = new TaskCompletionSource();
        var (a, b) = (Add("a"), Add("b", connection => Task.WhenAny(connection.CarryAsync(connection.Transport), returns.Task)));
        Connect(a.Node, b.Node).Keep = false;
        returns.SetResult();
        _mesh.Until(() => a.Node.Events.Count == 2 && b.Node.Mesh.LinkCount == 0);
        Assert.Contains(b.Middleware.Log, line => line.StartsWith("1331") && !line.Contains("without"));
        NothingIsLeft();
    }

    [Theory, InlineData(true), InlineData(false)]
    public void Middleware_that_never_calls_on_falls_to_the_limit_of_the_handshake(bool dialler)
    {
        Func<PipedConnection, Task> hangs = static connection => Task.Delay(Timeout.Infinite, connection.Closed);
        var (a, b) = (Add("a", dialler ? hangs : null), Add("b", dialler ? null : hangs));
        a.Node.Mesh.Connect(b.Node.EndPoint).Keep = false;
        _mesh.Rounds(10);
        Assert.Equal((2, 2), (a.Node.Mesh.LinkCount, b.Node.Mesh.LinkCount));
        _mesh.Clock.Advance(Limit + TimeSpan.FromSeconds(1));
        _mesh.Until(() => a.Node.Events.Count == 1 && a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.True(a.Node.Events[0] is "!HandshakeTimeout" or "!PeerClosed", a.Node.Events[0]);
        NothingIsLeft();
    }

    [Fact]
    public void Middleware_that_calls_on_after_the_link_has_ended_finds_its_pipes_completed()
    {
        var goesOn = new TaskCompletionSource();
        var (a, b) = (Add("a"), Add("b", async connection =>
        {
            await goesOn.Task.ConfigureAwait(false);
            await Bytes.Xored(connection).ConfigureAwait(false);
        }));
        a.Node.Mesh.Connect(b.Node.EndPoint).Keep = false;
        _mesh.Rounds(10);
        _mesh.Clock.Advance(Limit + TimeSpan.FromSeconds(1));
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.Equal(2, b.Middleware.Transport.Running);
        goesOn.SetResult();
        NothingIsLeft();
    }

    [Fact]
    public void An_abort_closes_the_connection_and_is_told_to_who_waits_for_it()
    {
        PipedConnection? open = null;
        var (a, b) = (Add("a"), Add("b", connection => (open = connection).CarryAsync(connection.Transport)));
        Connect(a.Node, b.Node).Keep = false;
        var cancelled = 0;
        open!.Closed.Register(() => cancelled++);
        open.Abort(new InvalidOperationException("enough"));
        open.Abort();
        Assert.Equal(1, cancelled);
        _mesh.Until(() => a.Node.Events.Count == 2 && b.Node.Events.Count == 2);
        Assert.Equal(["+a", "-a:Reset"], b.Node.Events);
        Assert.Single(b.Middleware.Log, line => line.StartsWith("1333") && line.Contains("enough"));
        NothingIsLeft();
    }

    [Fact]
    public void The_close_of_the_other_end_ends_the_input_and_then_the_connection()
    {
        PipedConnection? open = null;
        var (a, b) = (Add("a"), Add("b", connection => (open = connection).CarryAsync(connection.Transport)));
        var peer = Connect(a.Node, b.Node);
        Assert.False(open!.Closed.IsCancellationRequested);
        peer.Close();
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.True(open.Closed.IsCancellationRequested);
        Assert.Equal(["+a", "-a:PeerClosed"], b.Node.Events);
        NothingIsLeft();
    }

    [Fact]
    public void A_callback_of_the_close_that_throws_is_logged_and_harms_nothing()
    {
        var b = Add("b", connection =>
        {
            connection.Closed.Register(static () => throw new InvalidOperationException("no"));
            return connection.CarryAsync(connection.Transport);
        });
        var a = Add("a");
        Connect(a.Node, b.Node).Close();
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.True(b.Middleware.Tells(1334));
        NothingIsLeft();
    }

    [Fact]
    public void A_transport_of_the_middleware_that_fails_breaks_the_connection()
    {
        var fails = new TaskCompletionSource();
        var (a, b) = (Add("a"), Add("b", connection =>
        {
            var pipe = new Pipe(Bytes.Inline);
            fails.Task.ContinueWith(_ => pipe.Writer.Complete(new InvalidDataException("bad")), TaskContinuationOptions.ExecuteSynchronously);
            _ = PassAsync(connection.Transport.Input, pipe.Writer);
            return connection.CarryAsync(new Bytes.Pair(pipe.Reader, connection.Transport.Output));
        }));
        Connect(a.Node, b.Node).Keep = false;
        fails.SetResult();
        _mesh.Until(() => b.Node.Events.Count == 2 && a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.Equal(["+a", "-a:Reset"], b.Node.Events);
        Assert.True(b.Middleware.Tells(1332));
    }

    [Theory, InlineData(true), InlineData(false)]
    public void Pipes_that_middleware_completes_with_an_exception_break_only_their_connection(bool input)
    {
        PipedConnection? open = null;
        var (a, b) = (Add("a"), Add("b", connection => (open = connection).CarryAsync(
            new Bytes.Pair(new Pipe().Reader, new Counted(connection.Transport.Output, static _ => { })))));
        a.Node.Mesh.Connect(b.Node.EndPoint).Keep = false;
        _mesh.Until(() => open is not null);
        _mesh.Rounds(3);
        if (input)
        {
            open!.Transport.Input.Complete(new InvalidDataException("bad"));
        }
        else
        {
            open!.Transport.Output.Complete(new InvalidDataException("bad"));
        }

        _mesh.Rounds(3);
        _mesh.Clock.Advance(Limit + TimeSpan.FromSeconds(1));
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        Assert.DoesNotContain(b.Node.Log, static line => line.StartsWith("1008"));
        NothingIsLeft();
    }

    [Fact]
    public void The_end_of_the_chain_is_reached_once()
    {
        Exception? second = null;
        var (a, b) = (Add("a"), Add("b", connection =>
        {
            var first = connection.CarryAsync(connection.Transport);
            second = Record.Exception(() => { _ = connection.CarryAsync(connection.Transport); });
            return first;
        }));
        Exchange(Connect(a.Node, b.Node), a.Node, b.Node);
        Assert.IsType<InvalidOperationException>(second);
    }

    [Fact]
    public void Middleware_that_does_not_read_holds_the_sender_up_within_bounded_memory()
    {
        var goesOn = new TaskCompletionSource();
        var b = Add("b", async connection =>
        {
            var pipe = new Pipe(Bytes.Inline);
            var carried = connection.CarryAsync(new Bytes.Pair(pipe.Reader, connection.Transport.Output));
            await PassAsync(connection.Transport.Input, pipe.Writer, stopAfter: 20_000, goesOn.Task).ConfigureAwait(false);
            await carried.ConfigureAwait(false);
        });
        var a = _mesh.Add("a", static options => options.SendQueueBytes = 100_000);
        var link = Connect(a, b.Node).GetLink(0)!;
        var (frame, sent) = (new byte[10_000], 0);
        for (var round = 0; round < 400; round++)
        {
            sent += link.TryAppend(frame) == SendResult.Accepted ? 1 : 0;
            _mesh.Round();
        }

        var waiting = link.QueuedBytes;
        Assert.True(waiting > 0 && sent < 400, $"sent {sent}, waiting {waiting}");
        // A pipe and a chunk for each direction of the two connections, and the pieces in which pools lend.
        Assert.InRange(b.Middleware.Pool.MostBytes, 1, 2 * 2 * 2 * (PipedStream.PauseBytes + PipedStream.ChunkBytes));
        goesOn.SetResult();
        _mesh.Until(() => b.Node.AllFrames.Count() == sent);
        link.Peer.Close();
        _mesh.Until(() => a.Mesh.LinkCount == 0 && b.Node.Mesh.LinkCount == 0);
        NothingIsLeft();
    }

    [Fact]
    public void An_end_that_comes_together_with_the_last_bytes_is_found()
    {
        var goesOn = new TaskCompletionSource();
        var b = Add("b", async connection =>
        {
            var pipe = new Pipe(Bytes.Inline);
            var carried = connection.CarryAsync(new Bytes.Pair(pipe.Reader, connection.Transport.Output));
            await PassAsync(connection.Transport.Input, pipe.Writer, stopAfter: 1_000, goesOn.Task).ConfigureAwait(false);
            await carried.ConfigureAwait(false);
        });
        var a = Add("a");
        var peer = Connect(a.Node, b.Node);
        for (var i = 0; i < 10; i++)
        {
            peer.GetLink(0)!.TryAppend(Number(i, 300));
            _mesh.Round();
        }

        peer.Close();
        _mesh.Rounds(10);
        goesOn.SetResult();
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0 && b.Node.Events.Count == 2);
        Assert.Equal(Enumerable.Range(0, 10), b.Node.AllFrames.Select(frame => Number(frame)));
        Assert.Equal(["+a", "-a:PeerClosed"], b.Node.Events);
    }

    [Fact]
    public void Middleware_that_does_not_end_is_cut_off_after_the_limit()
    {
        var (a, b) = (Add("a"), Add("b", async connection =>
        {
            var output = new Counted(connection.Transport.Output, static _ => { }) { PassesOn = false };
            await connection.CarryAsync(new Bytes.Pair(connection.Transport.Input, output)).ConfigureAwait(false);
            await Task.Delay(Timeout.Infinite, connection.Closed).ConfigureAwait(false);
        }));
        var peer = Connect(a.Node, b.Node);
        // Not in order, so that output may be left.
        b.Node.Mesh.Dispose();
        Assert.Equal((2, 2), (b.Middleware.Transport.Running, b.Middleware.Transport.Open));
        _mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, b.Middleware.Transport.Open);
        Assert.True(b.Middleware.Tells(1335));
        peer.Keep = false;
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0);
        NothingIsLeft();
    }

    [Fact]
    public void Output_for_which_the_network_has_no_room_does_not_keep_a_closed_connection()
    {
        var (a, b) = (Add("a", Bytes.Xored), Add("b", Bytes.Xored));
        var peer = Connect(a.Node, b.Node);
        peer.Keep = false;
        var link = b.Node.Connected[0].GetLink(0)!;
        for (var round = 0; round < 100; round++)
        {
            // The other end does not read, so the way to it is full in the end.
            link.TryAppend(new byte[10_000]);
            b.Node.Pump(0);
        }

        Assert.True(link.QueuedBytes > 0);
        b.Node.Mesh.Dispose();
        // Nobody reports room to a closed link. The control link has nothing to send and ends in order.
        Assert.Equal((0, 0), (b.Middleware.Transport.Running, b.Middleware.Transport.Open));
        _mesh.Until(() => a.Node.Mesh.LinkCount == 0);
        NothingIsLeft();
        Assert.Empty(b.Middleware.Log);
    }

    [Fact]
    public void Over_TLS_middleware_sees_plain_bytes_and_who_the_other_end_is()
    {
        var subjects = new List<string?>();
        TestMiddleware Noted() => new()
        {
            Run = connection =>
            {
                subjects.Add(connection.Tls?.RemoteCertificate?.Subject);
                return Bytes.Xored(connection);
            },
        };
        using var mesh = new TestMesh(Wire.TlsMemory);
        var (over, under) = (Noted(), Noted());
        var a = mesh.Add("a", wrap: inner => over.Over(inner, mesh.Clock));
        var b = mesh.Add("b", wrap: inner => under.Over(inner, mesh.Clock));
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Connected.Count == 1 && b.Connected.Count == 1);
        mesh.Rounds(3);
        peer.GetLink(0)!.TryAppend(new byte[200_000]);
        mesh.Until(() => b.AllFrames.Any());
        peer.Close();
        mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0);
        Assert.Equal(["CN=a", "CN=a", "CN=b", "CN=b"], subjects.Order(StringComparer.Ordinal));
        Assert.True(over.IsEmpty && under.IsEmpty);
        Assert.Equal(["+a", "-a:PeerClosed"], b.Events);
    }

    [Fact]
    public void Many_connections_of_changing_middleware_leave_nothing()
    {
        using var mesh = new TestMesh(Wire.Tcp);
        var random = new Random(5);
        Task Any(PipedConnection connection) => random.Next(6) switch
        {
            0 => throw new InvalidOperationException("no"),
            1 => Task.CompletedTask,
            2 => Bytes.Xored(connection),
            _ => connection.CarryAsync(connection.Transport),
        };
        TestMiddleware[] both = [new() { OnPool = true, Run = Any }, new() { OnPool = true, Run = Any }];
        void Dial(MeshOptions options) => (options.LinksPerPeer, options.ReconnectMin) = (2, TimeSpan.FromMilliseconds(1));
        var a = mesh.Add("a", Dial, wrap: inner => both[0].Over(inner, mesh.Clock));
        var b = mesh.Add("b", Dial, wrap: inner => both[1].Over(inner, mesh.Clock));
        a.Mesh.Connect(b.EndPoint);
        for (var round = 0; round < 100; round++)
        {
            mesh.Rounds(5);
            mesh.Clock.Advance(TimeSpan.FromMilliseconds(200));
        }

        a.Mesh.Dispose();
        b.Mesh.Dispose();
        SpinWait.SpinUntil(
            () =>
            {
                // Limits of closes that begin late, on the thread pool, are reached too.
                mesh.Clock.Advance(TimeSpan.FromSeconds(2));
                return both.All(one => one.IsEmpty);
            },
            TestMesh.Patience);
        Assert.All(both, one => Assert.Equal((0, 0, 0), (one.Transport.Running, one.Transport.Open, one.Pool.Rented)));
    }

    private (TestNode Node, TestMiddleware Middleware) Add(string name, Func<PipedConnection, Task>? run = null)
    {
        var middleware = new TestMiddleware();
        if (run is not null)
        {
            middleware.Run = run;
        }

        _all.Add(middleware);
        return (_mesh.Add(name, wrap: inner => middleware.Over(inner, _mesh.Clock)), middleware);
    }

    private Peer Connect(TestNode a, TestNode b)
    {
        var peer = a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Connected.Count == 1 && b.Connected.Count == 1, "connected");
        _mesh.Rounds(3);
        return peer;
    }

    private void Exchange(Peer peer, TestNode a, TestNode b)
    {
        peer.GetLink(0)!.TryAppend(Number(1));
        b.Connected[0].GetLink(0)!.TryAppend(Number(2));
        _mesh.Until(() => a.AllFrames.Count() == 1 && b.AllFrames.Count() == 1);
    }

    private void NothingIsLeft()
    {
        _mesh.Rounds(3);
        // What a combinator or a delay of .NET continues goes over the thread pool.
        SpinWait.SpinUntil(() => _all.All(static one => one.IsEmpty), TestMesh.Patience);
        Assert.All(_all, one => Assert.Equal((0, 0, 0), (one.Transport.Running, one.Transport.Open, one.Pool.Rented)));
    }

    private static async Task SayAsync(PipedConnection connection, string word)
        => await connection.Transport.Output.WriteAsync(Encoding.ASCII.GetBytes(word)).ConfigureAwait(false);

    private static async Task<string> HearAsync(PipedConnection connection, int length)
    {
        var read = await connection.Transport.Input.ReadAtLeastAsync(length).ConfigureAwait(false);
        var word = Encoding.ASCII.GetString(read.Buffer.Slice(0, length));
        connection.Transport.Input.AdvanceTo(read.Buffer.GetPosition(length));
        return word;
    }

    private static async Task PassAsync(PipeReader from, PipeWriter to, int stopAfter = int.MaxValue, Task? goesOn = null)
    {
        for (var passed = 0L; ;)
        {
            var read = await from.ReadAsync().ConfigureAwait(false);
            foreach (var segment in read.Buffer)
            {
                to.Write(segment.Span);
                passed += segment.Length;
            }

            from.AdvanceTo(read.Buffer.End);
            await to.FlushAsync().ConfigureAwait(false);
            if (read.IsCompleted)
            {
                break;
            }

            if (passed > stopAfter)
            {
                await goesOn!.ConfigureAwait(false);
            }
        }

        await from.CompleteAsync().ConfigureAwait(false);
        await to.CompleteAsync().ConfigureAwait(false);
    }

    /// <summary>A writer over another that tells the bytes.</summary>
    private sealed class Counted(PipeWriter inner, Action<int> seen) : PipeWriter
    {
        public override void Advance(int bytes)
        {
            seen(bytes);
            inner.Advance(bytes);
        }

        public override Memory<byte> GetMemory(int sizeHint = 0) => inner.GetMemory(sizeHint);

        public override Span<byte> GetSpan(int sizeHint = 0) => inner.GetSpan(sizeHint);

        public override ValueTask<System.IO.Pipelines.FlushResult> FlushAsync(CancellationToken cancellationToken = default)
            => inner.FlushAsync(cancellationToken);

        public override void CancelPendingFlush() => inner.CancelPendingFlush();

        public bool PassesOn { get; init; } = true;

        public override void Complete(Exception? exception = null)
        {
            if (PassesOn)
            {
                inner.Complete(exception);
            }
        }
    }
}
