using ActOp.Outages.Checks;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Outages.Tests;

/// <summary>The search against one that tries all orders, and histories whose answer is known.</summary>
public sealed class LinearityTests
{
    private const int MostOperations = 7;

    [Fact]
    public void Registers_are_judged_as_by_a_search_that_tries_all_orders() => AgreesOn(Registers);

    [Fact]
    public void Counters_are_judged_as_by_a_search_that_tries_all_orders() => AgreesOn(Counters);

    [Fact]
    public void A_read_of_an_old_value_is_found()
    {
        var verdict = Linearity.Check([Write(5, 0, 1), Write(6, 2, 3), Read(5, 4, 5)]);
        Assert.Equal(Linear.No, verdict.Answer);
        Assert.Equal((1, 5L), (verdict.Placed, verdict.Value));
        Assert.Equal([Write(6, 2, 3), Read(5, 4, 5)], verdict.Stuck);
    }

    [Fact]
    public void A_write_without_an_answer_may_have_its_effect_late_or_never_but_once()
    {
        var lost = Write(5, 0, 0) with { IsKnown = false };
        Assert.Equal(Linear.Yes, Linearity.Check([lost, Read(0, 1, 2), Read(5, 3, 4), Read(5, 5, 6)]).Answer);
        Assert.Equal(Linear.Yes, Linearity.Check([lost, Read(0, 1, 2), Read(0, 3, 4)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([lost, Read(5, 1, 2), Read(0, 3, 4)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([lost, Read(5, 1, 2), Write(6, 3, 4), Read(5, 5, 6)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([Read(5, 1, 2), lost with { From = 3 }]).Answer);
    }

    [Fact]
    public void Swaps_without_answers_are_chained_to_the_value_that_was_read()
    {
        Operation[] chain =
        [
            new(Verb.Swap, 7, 6, 0, 0, 0, IsKnown: false), new(Verb.Swap, 6, 5, 0, 0, 0, IsKnown: false), Write(5, 1, 2), Read(7, 3, 4)
        ];
        Assert.Equal(Linear.Yes, Linearity.Check(chain).Answer);
        Assert.Equal(Linear.No, Linearity.Check(chain[1..]).Answer);
    }

    [Fact]
    public void An_acknowledged_addition_that_is_lost_is_found()
    {
        Assert.Equal(Linear.No, Linearity.Check([Add(1, 0, 1), Add(2, 2, 3), Count(1, 4, 5)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([Add(1, 0, 1), Add(1, 2, 3)]).Answer);
    }

    [Fact]
    public void An_addition_without_an_answer_counts_once_at_most()
    {
        var lost = Add(0, 0, 0) with { IsKnown = false };
        Assert.Equal(Linear.Yes, Linearity.Check([lost, Add(1, 1, 2), Add(3, 3, 4)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([lost, Add(1, 1, 2), Add(4, 3, 4)]).Answer);
        Assert.Equal(Linear.No, Linearity.Check([lost with { From = 5 }, Add(1, 1, 2), Add(3, 3, 4)]).Answer);
    }

    [Fact]
    public void A_search_that_is_too_long_says_that_it_decided_nothing()
    {
        // All overlap, each is needed, and the last read fits none of their orders.
        Operation[] history = [.. Enumerable.Range(1, 20).SelectMany(
            static value => new[] { Write(value, 0, 100), Read(value, 0, 100) }), Read(99, 200, 201)];
        var verdict = Linearity.Check(history, most: 1000);
        Assert.Equal(Linear.Undecided, verdict.Answer);
    }

    /// <summary>As long as those of a run, with callers that get no answer.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Long_histories_are_decided_in_few_steps(int seed)
    {
        var history = Histories.Register(new Random(seed), 600, callers: 20, unknown: 0.1, wrong: 0);
        var verdict = Linearity.Check(history);
        Assert.Equal(Linear.Yes, verdict.Answer);
        Assert.InRange(verdict.Steps, 1, 100_000);
    }

    private static void AgreesOn(Func<Random, Operation[]> draw)
    {
        var answers = new HashSet<Linear>();
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(3000), Prop.ForAll(Gen.Choose(0, int.MaxValue).ToArbitrary(), seed =>
        {
            var history = draw(new Random(seed));
            var answer = Linearity.Check(history).Answer;
            answers.Add(answer);
            var oracle = AllOrders.Exists(history) ? Linear.Yes : Linear.No;
            Assert.True(answer == oracle, $"{answer} instead of {oracle}: {string.Join("; ", history)}");
        }));
        // A check that sees one kind only would prove little.
        Assert.Equal([Linear.Yes, Linear.No], answers.Order());
    }

    private static Operation[] Registers(Random random) =>
        Histories.Register(random, random.Next(1, MostOperations + 1), random.Next(1, 5), random.NextDouble() * 0.6, random.NextDouble() * 0.3);

    private static Operation[] Counters(Random random) =>
        Histories.Counter(random, random.Next(1, MostOperations + 1), random.Next(1, 5), random.NextDouble() * 0.6, random.NextDouble() * 0.3);

    private static Operation Write(long value, long from, long to) => new(Verb.Write, value, 0, 0, from, to, IsKnown: true);

    private static Operation Read(long value, long from, long to) => new(Verb.Read, 0, 0, value, from, to, IsKnown: true);

    private static Operation Add(long result, long from, long to) => new(Verb.Add, 0, 0, result, from, to, IsKnown: true);

    private static Operation Count(long result, long from, long to) => Read(result, from, to);
}

/// <summary>Tries all orders: no memory, no cleverness.</summary>
internal static class AllOrders
{
    internal static bool Exists(Operation[] history) => Exists(history, 0, 0);

    private static bool Exists(Operation[] history, int placed, long value)
    {
        var end = long.MaxValue;
        for (var i = 0; i < history.Length; i++)
        {
            if (history[i].IsKnown && (placed & (1 << i)) == 0)
                end = Math.Min(end, history[i].To);
        }

        if (end == long.MaxValue)
            return true;
        for (var i = 0; i < history.Length; i++)
        {
            if ((placed & (1 << i)) != 0 || history[i].From > end || (history[i].IsKnown && !Fits(history[i], value)))
                continue;
            if (Exists(history, placed | (1 << i), After(history[i], value)))
                return true;
        }

        return false;
    }

    private static bool Fits(Operation one, long value) => one.Verb switch
    {
        Verb.Read or Verb.Swap => one.Result == value,
        Verb.Add => one.Result == value + 1,
        _ => true,
    };

    private static long After(Operation one, long value) => one.Verb switch
    {
        Verb.Write => one.Argument,
        Verb.Swap => value == one.Expected ? one.Argument : value,
        Verb.Add => value + 1,
        _ => value,
    };
}

/// <summary>Histories of a register or a counter with callers at once; some calls have no result, and some a wrong one.</summary>
internal static class Histories
{
    internal static Operation[] Register(Random random, int length, int callers, double unknown, double wrong)
    {
        long value = 0;
        return Draw(random, length, callers, unknown, number =>
        {
            var verb = (Verb)random.Next(3);
            var argument = verb == Verb.Read ? 0 : number + 1;
            // Mostly a value that there is or was.
            var expected = random.Next(2) == 0 ? value : random.Next(number + 1);
            var result = verb == Verb.Write ? 0 : random.NextDouble() < wrong ? random.Next(number + 2) : value;
            return (new Operation(verb, argument, expected, result, 0, 0, true), () =>
            {
                if (verb == Verb.Write || (verb == Verb.Swap && value == expected))
                    value = argument;
            }
            );
        });
    }

    internal static Operation[] Counter(Random random, int length, int callers, double unknown, double wrong)
    {
        long value = 0;
        return Draw(random, length, callers, unknown, _ =>
        {
            var verb = random.Next(2) == 0 ? Verb.Read : Verb.Add;
            var result = value + (verb == Verb.Add ? 1 : 0) + (random.NextDouble() < wrong ? random.Next(-1, 2) : 0);
            return (new Operation(verb, 0, 0, result, 0, 0, true), () => value += verb == Verb.Add ? 1 : 0);
        });
    }

    /// <summary>
    /// Calls happen one after the other, a step apart; each was sent up to some steps before that and ended up to some steps after it.
    /// Without a result, half of them never happen.
    /// </summary>
    private static Operation[] Draw(
        Random random, int length, int callers, double unknown, Func<int, (Operation Operation, Action Happen)> next)
    {
        var history = new List<Operation>();
        for (var number = 0; number < length; number++)
        {
            var (operation, happen) = next(number);
            var isKnown = random.NextDouble() >= unknown;
            if (isKnown || random.Next(2) == 0)
                happen();
            long at = number * 10;
            history.Add(operation with { From = at - random.Next(10 * callers), To = at + random.Next(10 * callers), IsKnown = isKnown });
        }

        return [.. history];
    }
}
