using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.TestClusters;
using ActOp.Wire;

namespace ActOp.Calls.Tests;

/// <summary>What a request waits in a process counts as time in which its caller waits.</summary>
public class WaitingDeadlineTests
{
    private static readonly SiloAddress Silo = SiloAddress.FromParsableString("10.0.0.7:11111@5");

    [Theory]
    [InlineData(500u, 300, 200u)]
    [InlineData(30_000u, 29_990, 10u)]
    [InlineData(30_000u, 1, 29_999u)]
    [InlineData(30_000u, 30_000, 0u)]
    [InlineData(500u, 70_000, 0u)]
    [InlineData(100u, 0, 100u)]
    [InlineData(uint.MaxValue, 1, uint.MaxValue - 1)]
    public void The_time_that_a_frame_has_waited_is_taken_from_what_its_request_has_left(uint left, long waited, uint expected)
    {
        foreach (var flags in new[] { FrameFlags.HasDeadline, FrameFlags.HasDeadline | FrameFlags.HasOrigin })
        {
            var frame = Request(GrainId.Create("type", "key"), 7, flags, left);
            var before = frame.ToArray();
            RequestDeadline.Shorten(frame, waited);
            Assert.Equal(expected, LeftIn(frame));
            // All else is as it was.
            Assert.Equal(before.Length, frame.Length);
            Assert.Equal(before[^4..], frame[^4..]);
            Assert.Equal(before[..30], frame[..30]);
        }
    }

    [Theory]
    [InlineData(500u, 300, 200u, false)]
    [InlineData(500u, 0, 500u, false)]
    [InlineData(500u, 70_000, 0u, false)]
    [InlineData(500u, 300, 200u, true)]
    public void The_time_that_a_request_for_many_has_waited_is_taken_off_too(uint left, long waited, uint expected, bool isToGrains)
    {
        var request = Request(default, 7, FrameFlags.HasDeadline, left);
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        if (isToGrains)
            GrainFanoutFrame.Write(ref writer, isOneWay: false, "type"u8, 3, new byte[300]);
        else
            FanoutFrame.Write(ref writer, isOneWay: false, FanoutFrame.PrefixOf(Silo), new byte[3 * FanoutFrame.BytesOf(isOneWay: false)]);
        writer.WriteRaw(request);
        writer.Commit();
        var frame = buffer.Written.ToArray();
        var before = frame.ToArray();
        RequestDeadline.Shorten(frame, waited);
        Assert.Equal(expected, LeftIn(frame[^request.Length..]));
        Assert.Equal(before[..^request.Length], frame[..^request.Length]);
    }

    [Fact]
    public void Frames_without_a_deadline_stay_as_they_are()
    {
        byte[][] frames =
        [
            Request(GrainId.Create("type", "key"), 7, FrameFlags.None, 0), [(byte)FrameKind.Request], [],
            [(byte)FrameKind.Reply, (byte)FrameFlags.IsError, .. new byte[40]],
        ];
        foreach (var frame in frames)
        {
            var before = frame.ToArray();
            RequestDeadline.Shorten(frame, 1000);
            Assert.Equal(before, frame);
        }
    }

    [Fact]
    public void What_a_frame_waits_for_a_view_that_lists_its_sender_counts()
    {
        var held = new HeldFrames();
        Assert.True(held.TryAdd(Request(GrainId.Create("type", "key"), 7, FrameFlags.HasDeadline, 500), now: 1000, out _));
        Assert.True(held.TryAdd(Request(GrainId.Create("type", "key"), 7, FrameFlags.HasDeadline, 500), now: 1400, out _));
        Assert.Equal(100u, LeftIn(held.TakeFrame(1400)!));
        Assert.Equal(500u, LeftIn(held.TakeFrame(1400)!));
        Assert.Null(held.TakeFrame(1400));
    }

    [Fact]
    public async Task A_request_that_has_waited_for_a_link_until_its_caller_has_gone_does_not_run()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var (from, to) = (silos.NodeOf(0), silos.NodeOf(1));
        using var late = new Gate();
        using var inTime = new Gate();
        var grain = silos.Grains.GetGrain<IAwaited>("waits for a link");
        await Place.On(to.Address, () => silos.AskAll([grain.Touch("")]));
        var method = TypeManifest.Methods.Single(
            static one => one.InterfaceType == typeof(IAwaited) && one.Name == nameof(IAwaited.Touch)).Id;
        var entry = new PeerEntry(from.Peers, to.Address, new Sender(to.Address, from.ClusterView, isSilo: true));
        var dropped = to.Metrics.Dropped;
        Assert.Null(entry.Send(0, control: false, Request(grain.GetGrainId(), method, FrameFlags.HasDeadline, 300, late.Name)));
        Assert.Null(entry.Send(0, control: false, Request(grain.GetGrainId(), method, FrameFlags.HasDeadline, 30_000, inTime.Name)));
        await silos.PassAsync(TimeSpan.FromSeconds(1));

        Assert.True(entry.TryConnect(from.Peers.Mesh.FindPeer(PeerTable.IdOf(to.Address))!));

        await inTime.ArrivedAsync();
        Assert.Equal(0, late.Count);
        Assert.Equal(dropped + 1, to.Metrics.Dropped);
    }

    private static byte[] Request(GrainId target, ulong method, FrameFlags flags, uint left, string text = "text")
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        new RequestHeader { Flags = flags, ReplyTo = 1, MethodId = method, Origin = Silo, Via = Silo, TimeLeft = left }
            .Write(ref writer, target, default);
        Codec<string?>.Default.Write(ref writer, text);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static uint LeftIn(byte[] frame)
    {
        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        return RequestHeader.Read(ref reader, out _, out _, out _).TimeLeft;
    }

    public interface IAwaited : IGrainWithStringKey
    {
        Task<bool> Touch(string gate);
    }

    public sealed class AwaitedGrain : Grain, IAwaited
    {
        public Task<bool> Touch(string gate)
        {
            Gate.Touch(gate);
            return Task.FromResult(true);
        }
    }
}
