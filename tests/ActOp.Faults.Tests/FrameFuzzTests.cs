using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.TestClusters;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Faults.Tests;

/// <summary>
/// Damaged frames and payloads: each is delivered, refused, or malformed, and none hangs, ends the silo, or takes memory out of proportion.
/// The seed and the number of frames are the environment's: <c>ACTOP_FUZZ_SEED</c>, and <c>ACTOP_FUZZ_FRAMES=10000000</c> for the long run.
/// </summary>
[Collection(nameof(Alone))]
public class FrameFuzzTests
{
    /// <summary>
    /// What a frame may take beside its limit: exceptions, calls, activations, and types that are named for the first time.
    /// </summary>
    private const long Slack = 2L << 20;

    private static readonly SerializationLimitOptions Limits = new();

    private static readonly byte[][] Ends =
        [[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0x7F], [0x80, 0x80, 0x80, 0x80, 0x10], [0, 0, 0, 0]];

    private static int Frames => int.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ_FRAMES"), out var frames) ? frames : 100_000;

    private static int Seed => int.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ_SEED"), out var seed) ? seed : 20261122;

    [Fact]
    public async Task Damaged_frames_end_in_an_answer_a_refusal_or_a_malformed_frame()
    {
        await using var cluster = await TestSilos.StartAsync();
        var silo = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>().Address;
        var fuzz = new Fuzz(silo, client, new Random(Seed));
        // In parts, so that what was delivered has run before more comes, and the refusals that wait to be sent stay few: their buffers
        // count for the frame that makes them grow.
        const int part = 2_000;
        for (var left = Frames; left > 0; left -= Math.Min(left, part))
        {
            fuzz.Run(Math.Min(left, part));
            Assert.Equal(7, await cluster.Client.GetGrain<ITarget>(1).Sum(3, 4).WaitAsync(Gate.Patience));
        }

        TestContext.Current.TestOutputHelper!.WriteLine(fuzz.ToString());
        Assert.False(silo.Local.IsDead);
        Assert.True(fuzz.Delivered > 0 && fuzz.Refused > 0 && fuzz.Malformed > 0);
    }

    [Fact]
    public void Damaged_payloads_give_a_value_or_a_serializer_exception_and_take_no_more_memory_than_their_limit()
    {
        var random = new Random(Seed);
        var samples = Samples()
            .Select(sample => Written((ref WireWriter writer) => Codec<object?>.Default.Write(ref writer, sample)))
            .ToArray();
        var session = new WireSession(null);
        var (read, refused, largest) = (0, 0, 0L);
        for (var count = 0; count < Frames; count++)
        {
            var bytes = Damage(samples[random.Next(samples.Length)], 0, random, samples);
            session.Reset();
            session.LimitDecoded(Limits.LimitOf(bytes.Length));
            var before = GC.GetAllocatedBytesForCurrentThread();
            try
            {
                var reader = new WireReader(bytes, session);
                Codec<object>.Default.Read(ref reader);
                read++;
            }
            catch (Exception exception) when (exception is SerializerException or OverflowException)
            {
                refused++; // A number that does not fit its type is an overflow.
            }

            var taken = GC.GetAllocatedBytesForCurrentThread() - before;
            largest = Math.Max(largest, taken);
            Assert.True(taken < (2 * Limits.LimitOf(bytes.Length)) + Slack, taken + " bytes for " + Convert.ToHexString(bytes));
        }

        TestContext.Current.TestOutputHelper!.WriteLine(
            Frames + " payloads: " + read + " read, " + refused + " refused; at most " + largest + " bytes for one");
        // Else most would end at their first bytes, and nothing behind these would be tried.
        Assert.True(read > Frames / 20 && refused > Frames / 20);
    }

    private delegate void Write(ref WireWriter writer);

    private static byte[] Written(Write write)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        write(ref writer);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static object?[] Samples() =>
    [
        null, 5, "text", new object?[] { 1, "a", null, new List<int> { 1, 2, 3 } }, new List<string> { "a", "b", "" },
        new Dictionary<string, object> { ["a"] = 1.5m, ["b"] = Guid.Empty }, new[,] { { 1, 2 }, { 3, 4 } }, new int?[] { null, 1, null },
        new HashSet<Guid> { Guid.Empty }, (1, "b", (byte)3), new Tuple<int, string>(1, "x"), new LinkedList<long>([1, 2]),
        new SortedList<int, string> { [1] = "a", [2] = "b" }, new System.Collections.BitArray(9), DateTimeOffset.MaxValue, 5m,
        new Uri("http://x"),
        new AggregateException("m", new TimeoutException("t")), typeof(List<int>), new Version(1, 2), DateTime.MinValue, new byte[300],
        System.Collections.Immutable.ImmutableArray.Create<long?>(1, null), new KeyValuePair<string, int[]>("k", [1, 2]),
        new Queue<DateOnly>([default]), SiloAddress.Zero, GrainId.Create("a", "b"),
        new Leaf { Name = "n", Next = new Leaf { Tags = ["t"] } },
    ];

    /// <summary>Changes a copy behind its first bytes: bits, bytes, numbers, cuts, repetitions, and pieces of others.</summary>
    private static byte[] Damage(byte[] bytes, int keep, Random random, byte[][] others)
    {
        var copy = new List<byte>(bytes);
        for (var changes = random.Next(1, 4); changes > 0; changes--)
        {
            if (copy.Count <= keep)
                break;
            var at = random.Next(keep, copy.Count);
            switch (random.Next(8))
            {
                case 0:
                    copy[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 1:
                    copy[at] = (byte)random.Next(256);
                    break;
                case 2:
                    copy[at] = (byte)random.Next(8);
                    break;
                case 3:
                    copy.RemoveRange(at, copy.Count - at);
                    break;
                case 4:
                    copy.InsertRange(at, Ends[random.Next(Ends.Length)]);
                    break;
                case 5:
                    copy.InsertRange(at, copy.GetRange(at, Math.Min(copy.Count - at, random.Next(1, 40))));
                    break;
                case 6:
                    copy.RemoveRange(at, Math.Min(copy.Count - at, random.Next(1, 6)));
                    break;
                default:
                    var other = others[random.Next(others.Length)];
                    var from = random.Next(other.Length);
                    copy.InsertRange(at, other.AsSpan(from, Math.Min(other.Length - from, random.Next(1, 30))).ToArray());
                    break;
            }
        }

        return [.. copy];
    }

    /// <summary>One run over a silo, with the frames of a client and of a silo that the view does not list.</summary>
    private sealed class Fuzz
    {
        private readonly Node _silo;
        private readonly Random _random;
        private readonly Sender[] _senders;
        private readonly (byte[] Bytes, int Header)[] _frames;
        private readonly byte[][] _all;
        private long _largest;
        private int _count;

        internal Fuzz(Node silo, SiloAddress client, Random random)
        {
            (_silo, _random) = (silo, random);
            _senders =
            [
                new Sender(client, silo.ClusterView, isSilo: true) { Types = new TypeShare(1_024, isClient: true) },
                new Sender(SiloAddress.New(System.Net.IPAddress.Loopback, 9, 9), silo.ClusterView, isSilo: true) { Types =
                    new TypeShare(64, isClient: false) },
            ];
            var target = GrainId.Create(silo.Classes.Resolve(typeof(ITarget), null), GrainIdKeyExtensions.CreateIntegerKey(1));
            var system = SystemGrainIds.SystemTarget(ClusterService.Name, silo.Address);
            _frames =
            [
                .. Samples()
                    .Select(sample => Request(target, nameof(ITarget.Take), 0, client,
                        (ref WireWriter writer) => Codec<object?>.Default.Write(ref writer, sample))),
                Request(target, nameof(ITarget.Sum), 0, client, (ref WireWriter writer) => writer.WriteFixed64(0x0404)),
                Request(target, nameof(ITarget.Sum), FrameFlags.OneWay, client, (ref WireWriter writer) => writer.WriteFixed64(0x0404)),
                Request(system, nameof(IClusterTarget.GetTable), 0, client, (ref WireWriter writer) => writer.WriteByte(0)),
                Request(system, nameof(IClusterTarget.UseTable), 0, client, (ref WireWriter writer) => writer.WriteByte(0)),
                (Written((ref WireWriter writer) =>
                {
                    new ReplyHeader(FrameFlags.None, 1L << 22, null, 0).Write(ref writer);
                    Codec<object?>.Default.Write(ref writer, "result");
                }), 1),
                (Written((ref WireWriter writer) =>
                {
                    writer.WriteByte((byte)FrameKind.RelayedReply);
                    Addresses.Write(ref writer, client);
                    writer.WriteByte((byte)FrameKind.Reply);
                    writer.WriteFixed64(1L << 22);
                    writer.WriteFixed64(0);
                }), 1),
                (Written((ref WireWriter writer) => new ForwardedFrame(1, 1L << 22, silo.Address).Write(ref writer)), 1),
            ];
            _all = [.. _frames.Select(frame => frame.Bytes)];
        }

        internal int Delivered { get; private set; }

        internal int Malformed { get; private set; }

        internal long Refused { get; private set; }

        internal void Run(int frames)
        {
            for (var count = 0; count < frames; count++)
            {
                var (bytes, header) = _frames[_random.Next(_frames.Length)];
                // Mostly the payload: a damaged key is another grain, and a damaged method is refused at once.
                Read(Damage(bytes, _random.Next(5) == 0 ? 0 : header, _random, _all));
            }

            _count += frames;
        }

        public override string ToString() =>
            _count + " frames: " + Delivered + " delivered or dropped, " + Refused + " refused, " + Malformed
            + " malformed; at most " + _largest + " bytes for one; activations " + _silo.Activations.Count;

        private void Read(byte[] frame)
        {
            var sender = _senders[_random.Next(8) == 0 ? 1 : 0];
            TypeShare.Current = sender.Types;
            var (refused, before) = (RefusedSoFar, GC.GetAllocatedBytesForCurrentThread());
            try
            {
                // A stranger's frames would wait for a view that lists it.
                _silo.Peers.Reader.Read(sender, sender.Address.IsClient ? sender.Role : PeerRole.Stranger, frame);
                Delivered++;
            }
            catch (SerializerException)
            {
                Malformed++;
            }
            finally
            {
                TypeShare.Current = null;
            }

            var taken = GC.GetAllocatedBytesForCurrentThread() - before;
            _largest = Math.Max(_largest, taken);
            Assert.True(taken < (2 * Limits.LimitOf(frame.Length)) + Slack, taken + " bytes for " + Convert.ToHexString(frame));
            var more = RefusedSoFar - refused;
            Refused += more;
            Delivered -= more > 0 ? 1 : 0;
        }

        private long RefusedSoFar => Enum.GetValues<Refusal>().Sum(reason => _silo.Refusals[reason]);

        private static (byte[] Bytes, int Header) Request(
            GrainId target, string method, FrameFlags flags, SiloAddress client, Write arguments)
        {
            var id = TypeManifest.Methods.Single(candidate => candidate.Name == method && candidate.InterfaceType is var owner
                && (owner == typeof(ITarget) || owner == typeof(IClusterTarget))).Id;
            var header = 0;
            var bytes = Written((ref WireWriter writer) =>
            {
                new RequestHeader { Flags = flags, ReplyTo = 1, MethodId = id }
                    .Write(ref writer, target, SystemGrainIds.Client(client));
                header = writer.Position;
                arguments(ref writer);
            });
            return (bytes, header);
        }
    }

    [GenerateSerializer]
    public sealed class Leaf
    {
        [Id(0)]
        public string? Name { get; set; }

        [Id(1)]
        public Leaf? Next { get; set; }

        [Id(2)]
        public List<string> Tags { get; set; } = [];
    }

    public interface ITarget : IGrainWithIntegerKey
    {
        Task<int> Sum(int x, int y);

        Task Take(object? value);
    }

    public sealed class TargetGrain : Grain, ITarget
    {
        public Task<int> Sum(int x, int y) => Task.FromResult(x + y);

        public Task Take(object? value) => Task.CompletedTask;
    }
}
