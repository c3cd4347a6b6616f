using System.Diagnostics;
using System.Text;
using ActOp.Runtime.Diagnostics;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>The W3C trace state and the baggage of a trace go with its calls, whether it is recorded or not.</summary>
[Collection(nameof(Alone))]
public class TraceBaggageTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private const string State = "one=1,other=a_b";

    public enum From
    {
        Client,
        SameSilo,
        OtherSilo,
    }

    public static TheoryData<From, ActivitySamplingResult> Ways =>
        new(from way in Enum.GetValues<From>()
            from result in new[] { ActivitySamplingResult.None, ActivitySamplingResult.PropagationData, ActivitySamplingResult.AllData,
                ActivitySamplingResult.AllDataAndRecorded }
            select (way, result));

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task State_and_baggage_reach_every_grain_of_a_trace(From way, ActivitySamplingResult result)
    {
        var (first, second) = await PlaceAsync("far" + way + result, way);
        using var listener = Listen(result);
        using var root = Root();
        root.AddBaggage("user", "old");
        root.AddBaggage("user", "Zoë; a=b,c");
        root.AddBaggage("tenant", "7");
        var seen = way == From.Client ? await first.Read() : await first.Through(second);
        Assert.Equal(State, seen[0]);
        Assert.Equal("Zoë; a=b,c", seen[1]);
        Assert.Equal("7", seen[2]);
        Assert.Equal(root.TraceId.ToHexString(), seen[3]);
    }

    [Fact]
    public async Task A_trace_without_a_listener_where_it_passes_keeps_them()
    {
        var (first, second) = await PlaceAsync("unheard", From.OtherSilo);
        // What has arrived once is passed on by nodes where nobody listens.
        CallTrace.PassOn();
        using var root = Root();
        root.AddBaggage("user", "me");
        var seen = await first.Through(second);
        Assert.Equal((State, "me"), (seen[0], seen[1]));
    }

    [Fact]
    public async Task What_is_too_long_is_left_out_and_the_call_goes_on()
    {
        var (first, second) = await PlaceAsync("long", From.OtherSilo);
        using var listener = Listen(ActivitySamplingResult.AllDataAndRecorded);
        using var root = new Activity("root").Start();
        root.TraceStateString = "one=" + new string('x', 100_000);
        root.AddBaggage("user", new string('y', 100_000));
        var seen = await first.Through(second);
        Assert.Equal(("", "", root.TraceId.ToHexString()), (seen[0], seen[1], seen[3]));
    }

    [Fact]
    public void A_header_is_never_longer_than_what_is_read()
    {
        using var activity = Root();
        for (var item = 0; item < 5_000; item++)
            activity.AddBaggage("key" + item, "value" + item);
        var text = TraceBaggage.Write(activity);
        Assert.InRange(text.Length, 1, TraceBaggage.MostBytes);
        Assert.Equal(State, TraceBaggage.StateOf(text));
        using var read = new Activity("read");
        TraceBaggage.Copy(TraceHeader.FromBytes(TraceHeader.ToBytes(activity)), read);
        Assert.InRange(read.Baggage.Count(), 1, 5_000);
        Assert.All(read.Baggage, item => Assert.Equal(activity.GetBaggageItem(item.Key), item.Value));
    }

    [Theory]
    [InlineData("")]
    [InlineData("\n")]
    [InlineData("no separator")]
    [InlineData("=\n=")]
    [InlineData("UPPER=1\nno value")]
    [InlineData("\u0001=2\n\u0001=\u0002,%zz=%zz")]
    [InlineData("a=1\nb=2\nc=3")]
    public void Malformed_text_costs_at_most_itself(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        using var parent = Root();
        var read = Assert.IsType<TraceHeader>(TraceHeader.FromBytes(Framed(TraceHeader.ToBytes(parent)[..25], bytes)));
        Assert.Equal(parent.TraceId, read.Context.TraceId);
        using var activity = new Activity("read");
        TraceBaggage.Copy(read, activity);
        Assert.DoesNotContain(activity.Baggage, static item => item.Key.Any(char.IsControl));
    }

    [Fact]
    public void Text_beyond_the_limit_is_not_kept()
    {
        using var parent = Root();
        var read = Assert.IsType<TraceHeader>(
            TraceHeader.FromBytes(Framed(TraceHeader.ToBytes(parent)[..25], Encoding.UTF8.GetBytes("a=1\nb=" + new string('x', 100_000)))));
        Assert.True(read.Text.IsEmpty);
        Assert.Equal(parent.TraceId, read.Context.TraceId);
    }

    private static byte[] Framed(byte[] ids, byte[] text)
    {
        var buffer = new Wire.WireBuffer();
        var writer = new Wire.WireWriter(buffer, new Wire.WireSession(null));
        writer.WriteRaw(ids);
        writer.WriteBytes(text);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static Activity Root()
    {
        var root = new Activity("root").Start();
        root.TraceStateString = State;
        return root;
    }

    private static ActivityListener Listen(ActivitySamplingResult result)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "ActOp.Runtime",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => result,
        };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }

    private async Task<(IBearer First, IBearer Second)> PlaceAsync(string key, From way)
    {
        var (first, second) = (cluster.Client.GetGrain<IBearer>(key + "1"), cluster.Client.GetGrain<IBearer>(key + "2"));
        await Place.On(cluster.AddressOf(0), () => first.Read());
        await Place.On(cluster.AddressOf(way == From.OtherSilo ? 1 : 0), () => second.Read());
        return (first, second);
    }

    public interface IBearer : IGrainWithStringKey
    {
        Task<string[]> Read();

        Task<string[]> Through(IBearer other);
    }

    public sealed class BearerGrain : Grain, IBearer
    {
        public Task<string[]> Read()
        {
            var current = Activity.Current;
            return Task.FromResult<string[]>([
                current?.TraceStateString ?? "", current?.GetBaggageItem("user") ?? "", current?.GetBaggageItem("tenant") ?? "",
                current?.TraceId.ToHexString() ?? ""]);
        }

        public Task<string[]> Through(IBearer other) => other.Read();
    }
}
