using ActOp.Testing.Simulated;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Verify.Tests;

/// <summary>The search for an order of calls, beside one that tries all orders.</summary>
public sealed class CallOrderTests
{
    private const long Most = 1_000_000;

    [Fact]
    public void The_search_finds_an_order_exactly_if_there_is_one() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(2000), Prop.ForAll(Gen.Choose(0, int.MaxValue).ToArbitrary(), static seed =>
        {
            var calls = Draw(new Random(seed));
            var found = new CallOrder<Cell>(calls, static () => new Cell(), Most).Search();
            return found == (HasOrder(calls, [], new bool[calls.Count]) ? OrderVerdict.Found : OrderVerdict.None);
        }));

    [Fact]
    public void Many_calls_without_a_result_do_not_make_the_search_long()
    {
        // 2^20 sets of calls that may have had their effect, but few values.
        List<CallRecord<Cell>> calls =
            [.. Enumerable.Range(0, 20).Select(static number => Write(number % 2, number, CallRecord<Cell>.NeverEnds))];
        calls.Add(Read(7, 100, 101));
        Assert.Equal(OrderVerdict.None, new CallOrder<Cell>(calls, static () => new Cell(), 100_000_000).Search());
    }

    [Fact]
    public void A_search_that_takes_too_long_says_so()
    {
        List<CallRecord<Cell>> calls =
            [.. Enumerable.Range(1, 30).Select(static number => Write(number, number, CallRecord<Cell>.NeverEnds))];
        calls.Add(Read(100, 100, 101));
        Assert.Equal(OrderVerdict.TooHard, new CallOrder<Cell>(calls, static () => new Cell(), 1000).Search());
    }

    [Fact]
    public void What_is_left_is_told_with_the_longest_order()
    {
        List<CallRecord<Cell>> calls = [Write(1, 1, 2), Read(1, 3, 4), Read(0, 5, 6)];
        var order = new CallOrder<Cell>(calls, static () => new Cell(), Most);
        Assert.Equal(OrderVerdict.None, order.Search());
        Assert.Equal(["write 1", "read = 1"], order.Longest.Select(static one => one.Text));
        Assert.Equal(["read = 0"], order.Left.Select(static one => one.Text));
    }

    [Theory]
    [InlineData(true, 0, 0, 1)]
    [InlineData(false, 0, 1, 0)]
    public void Models_with_the_same_content_have_the_same_digest(bool isSame, int one, int two, int three)
    {
        var left = new Bag { Names = { ["a"] = 1, ["b"] = 2 }, Set = { one, three } };
        var right = new Bag { Names = { ["b"] = 2, ["a"] = 1 }, Set = { three, two } };
        Assert.Equal(isSame, Digest(left) == Digest(right));
        Assert.Null(Digest(new Bag { Action = () => { } }));
    }

    private static string? Digest(object value)
    {
        var text = new System.Text.StringBuilder();
        return ModelDigest.TryAppend(value, text) ? text.ToString() : null;
    }

    private static List<CallRecord<Cell>> Draw(Random random)
    {
        var calls = new List<CallRecord<Cell>>();
        var moments = Enumerable.Range(0, 12).ToArray();
        random.Shuffle(moments);
        for (var call = 0; call < random.Next(1, 6); call++)
        {
            var (one, other) = (moments[2 * call], moments[(2 * call) + 1]);
            var (begun, ended) = (Math.Min(one, other), Math.Max(one, other));
            var end = random.Next(4) == 0 ? CallRecord<Cell>.NeverEnds : ended;
            calls.Add(random.Next(2) == 0 ? Write(random.Next(3), begun, end) : Read(random.Next(3), begun, end));
        }

        return calls;
    }

    private static CallRecord<Cell> Write(int value, long begun, long ended) => new("write " + value, begun, ended, cell =>
    {
        cell.Value = value;
        return true;
    }, "write " + value);

    private static CallRecord<Cell> Read(int value, long begun, long ended) =>
        new("read = " + value, begun, ended, cell => ended == CallRecord<Cell>.NeverEnds || cell.Value == value);

    /// <summary>Tries each call that may be next, with all that follow.</summary>
    private static bool HasOrder(List<CallRecord<Cell>> calls, List<int> order, bool[] isPlaced)
    {
        if (calls.Where((one, index) => one.HasResult && !isPlaced[index]).FirstOrDefault() is null)
            return true;
        for (var next = 0; next < calls.Count; next++)
        {
            if (isPlaced[next] || calls.Where((one, index) => !isPlaced[index] && one.Ended < calls[next].Begun).Any())
                continue;
            var cell = new Cell();
            if (!order.Append(next).All(one => calls[one].Fits(cell)))
                continue;
            isPlaced[next] = true;
            if (HasOrder(calls, [.. order, next], isPlaced))
                return true;
            isPlaced[next] = false;
        }

        return false;
    }

    private sealed class Cell
    {
        internal int Value { get; set; }
    }

    private sealed class Bag
    {
        internal Dictionary<string, int> Names { get; } = [];

        internal HashSet<int> Set { get; } = [];

        internal Action? Action { get; init; }
    }
}
