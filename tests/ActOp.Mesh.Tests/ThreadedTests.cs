#pragma warning disable RS0030
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

public class ThreadedTests
{
    /// <summary>With large ones, one frame in fifty is read by the poller for them.</summary>
    [Theory, InlineData(Wire.Memory, false), InlineData(Wire.Tcp, false), InlineData(Wire.TlsMemory, false),
        InlineData(Wire.TlsTcp, false), InlineData(Wire.PipedMemory, false), InlineData(Wire.PipedTcp, false),
        InlineData(Wire.Memory, true), InlineData(Wire.Tcp, true), InlineData(Wire.TlsTcp, true), InlineData(Wire.PipedTcp, true)]
    public void Many_threads_send_while_pollers_change_and_each_keeps_its_order(Wire wire, bool withLarge)
    {
        const int Senders = 3;
        const int Each = 4000;
        using var mesh = new TestMesh(wire);
        var (a, b, peer, _) = mesh.Pair(options =>
            (options.LinksPerPeer, options.SendQueueBytes, options.LargeFrameBytes) = (Senders, 20_000, withLarge ? 10_000 : null));
        b.Mesh.SetPollers(4);
        var next = new int[Senders];
        var wrong = 0;
        b.Receiver = (link, frames) =>
        {
            foreach (var body in frames)
            {
                wrong += Number(body) == next[link.Index]++ ? 0 : 1;
            }
        };
        var stop = false;
        var pollers = Enumerable.Range(0, 4).Select(i => Start(() =>
        {
            while (!Volatile.Read(ref stop))
            {
                b.Mesh.GetPoller(i).Poll(5);
            }
        })).ToArray();
        var large = Start(() =>
        {
            while (!Volatile.Read(ref stop))
            {
                b.Mesh.LargeFramePoller?.Poll(5);
            }
        });
        var senders = Enumerable.Range(0, Senders).Select(i => Start(() =>
        {
            for (var number = 0; number < Each;)
            {
                var length = withLarge && number % 50 == 0 ? 15_000 : 100;
                number += peer.GetLink((uint)i)!.TryAppend(Number(number, length)) == SendResult.Accepted ? 1 : 0;
                a.FlushPending();
            }
        })).ToArray();
        var random = new Random(9);
        mesh.UntilOf(a, () => next.Sum() == Senders * Each, () => b.Mesh.SetPollers(random.Next(1, 5)));
        Volatile.Write(ref stop, true);
        Array.ForEach([.. senders, .. pollers, large], thread => thread.Join());
        Assert.Equal(0, wrong);
    }

    [Theory, InlineData(Wire.Tcp), InlineData(Wire.TlsTcp), InlineData(Wire.PipedTcp)]
    public void Both_ends_send_on_threads_of_their_own_while_one_closes(Wire wire)
    {
        for (var round = 0; round < 3; round++)
        {
            using var mesh = new TestMesh(wire);
            var (a, b, peer, back) = mesh.Pair(options => options.SendQueueBytes = 20_000);
            var (there, answer) = (peer.GetLink(0)!, back.GetLink(0)!);
            var (accepted, delivered) = (0, 0);
            a.Receiver = static (_, _) => { };
            b.Receiver = (_, frames) => delivered += frames.Count;
            var stop = false;
            var sender = Start(() =>
            {
                while (there.TryAppend(Number(accepted, 500)) is var result && result != SendResult.Closed)
                {
                    accepted += result == SendResult.Accepted ? 1 : 0;
                    there.Flush();
                    Thread.Yield();
                }

                while (!Volatile.Read(ref stop))
                {
                    there.Flush();
                    Thread.Yield();
                }
            });
            var answers = Start(() =>
            {
                while (!Volatile.Read(ref stop))
                {
                    answer.TryAppend(Number(1, 500));
                    answer.Flush();
                    Thread.Yield();
                }
            });
            mesh.Until(() => delivered > 100);
            peer.Close();
            mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0 && b.Events.Count == 2, "closed");
            Volatile.Write(ref stop, true);
            sender.Join();
            answers.Join();
            Assert.Equal(accepted, delivered);
            Assert.Equal(["+a", "-a:PeerClosed"], b.Events);
        }
    }

    private static Thread Start(Action action)
    {
        var thread = new Thread(() => action()) { IsBackground = true };
        thread.Start();
        return thread;
    }
}
