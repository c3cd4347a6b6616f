using System.Runtime.ExceptionServices;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

/// <summary>
/// Messages that are built as graphs: shared parts, cycles, chains that are deep by references only, empty collections of large items, boxed
/// structs, and all of them as keys. Whatever is read, copied, written or becomes a text stays within stack, memory and steps.
/// </summary>
/// <remarks>
/// 1,500 graphs; ACTOP_FUZZ_GRAPHS sets another number and ACTOP_FUZZ_SEED another seed. A failure names the seed of its graph, which alone
/// makes it again: ACTOP_FUZZ_GRAPHS=1.
/// </remarks>
public class GraphFuzzTests
{
    /// <summary>What threads of .NET have on Linux by default.</summary>
    private const int Stack = 1536 * 1024;

    private const int PerByte = 128;
    private const int PerMessage = 64 * 1024;

    /// <summary>A hash code boxes numbers that are structs in a tuple: 24 bytes for one byte of the message.</summary>
    private const int PerWalkedByte = 32;

    private const int Slack = 2 << 20;

    /// <summary>What types and codecs of all graphs may keep.</summary>
    private const int MostKept = 64 << 20;

    private static readonly Serializer Serializer = new();
    private static readonly DeepCopier Copier = new();

    private static int Graphs => int.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ_GRAPHS"), out var graphs) ? graphs : 1500;

    private static int Seed => int.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ_SEED"), out var seed) ? seed : 20261124;

    [Fact]
    public void Graphs_of_any_shape_stay_within_stack_memory_and_steps()
    {
        var (read, refused) = (0, 0);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        ExceptionDispatchInfo? failure = null;
        var thread = new Thread(
            () =>
            {
                for (var seed = Seed; seed != Seed + Graphs && failure is null; seed++)
                {
                    try
                    {
                        if (Play(seed))
                            read++;
                        else
                            refused++;
                    }
                    catch (Exception exception)
                    {
                        failure = ExceptionDispatchInfo.Capture(new InvalidOperationException("Graph " + seed, exception));
                    }
                }
            },
            Stack);
        thread.Start();
        thread.Join();
        failure?.Throw();
        var kept = GC.GetTotalMemory(forceFullCollection: true) - before;
        TestContext.Current.TestOutputHelper!.WriteLine(read + " graphs were read, " + refused + " refused; " + kept + " bytes are kept.");
        Assert.InRange(kept, long.MinValue, MostKept);
        Assert.True(Graphs < 1000 || (read > Graphs / 20 && refused > Graphs / 20), read + " graphs were read, " + refused + " refused.");
    }

    /// <summary>True if the graph was read; false if it was refused.</summary>
    private static bool Play(int seed)
    {
        var graph = new GraphMaker(seed);
        Steps.Reset(0);
        if (Attempt(() => graph.Write()) is not { } bytes)
            return false;
        var kinds = graph.KeyedKinds;
        // The first reading of a type makes its codec.
        var isRead = Read(bytes, kinds, out _) is not null;
        var before = GC.GetAllocatedBytesForCurrentThread();
        var values = Read(bytes, kinds, out var limit);
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Expect(allocated <= (PerWalkedByte * limit) + Slack, "memory");
        Expect(allocated <= (2 * limit) + Slack || Kept(bytes, kinds) <= (2 * limit) + Slack, "memory that is kept");
        if (values is null)
            return false;
        Assert.True(isRead);
        Use(values, bytes.Length, limit);
        return true;
    }

    /// <summary>What stays of a reading, without what walks over keys leave to the collector. Slow.</summary>
    private static long Kept(byte[] bytes, List<string> kinds)
    {
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var values = Read(bytes, kinds, out _);
        var kept = GC.GetTotalMemory(forceFullCollection: true) - before;
        GC.KeepAlive(values);
        return kept;
    }

    private static object?[]? Read(byte[] bytes, List<string> kinds, out long limit)
    {
        limit = PerMessage + ((long)PerByte * bytes.Length);
        Steps.Reset(limit);
        var session = new WireSession(null);
        session.LimitDecoded(limit);
        var values = new object?[kinds.Count + 1];
        try
        {
            var reader = new WireReader(bytes, session);
            values[0] = Codec<object[]>.Default.Read(ref reader);
            for (var i = 0; i < kinds.Count; i++)
                values[i + 1] = KeyedForms.Read(ref reader, kinds[i]);
            return values;
        }
        catch (Exception exception) when (exception is SerializerException or OverflowException)
        {
            return null;
        }
    }

    /// <summary>What the runtime and most applications do with what was read.</summary>
    private static void Use(object?[] values, int length, long limit)
    {
        Steps.Reset(limit);
        foreach (var part in (object?[]?)values[0] ?? [])
        {
            if (part is Exception exception)
                Expect(exception.ToString().Length + exception.Message.Length <= Reach.MaxReferred * 8, "text");
        }

        foreach (var each in values)
        {
            Steps.Reset(2 * limit);
            var written = Attempt(() => Serializer.SerializeToArray(each));
            Expect(written is null || written.Length <= (32L * length) + PerMessage, "length when written again");
            var before = GC.GetAllocatedBytesForCurrentThread();
            Attempt(() => Copier.Copy(each));
            Expect(GC.GetAllocatedBytesForCurrentThread() - before <= (PerWalkedByte * limit) + Slack, "memory of a copy");
        }
    }

    /// <summary>Null if it is refused, or if keys of different classes have no order.</summary>
    private static T? Attempt<T>(Func<T> action)
        where T : class?
    {
        try
        {
            return action();
        }
        catch (Exception exception) when (exception is SerializerException or ArgumentException
            || exception.InnerException is ArgumentException)
        {
            return null;
        }
    }

    private static void Expect(bool holds, string what)
    {
        if (!holds)
            throw new InvalidOperationException("Beyond the limit: " + what);
    }
}

/// <summary>Counts hash codes and comparisons on this thread.</summary>
internal static class Steps
{
    [ThreadStatic]
    private static long t_left;

    internal static bool IsCounting => t_left > 0;

    internal static void Reset(long limit) => t_left = limit;

    internal static void Count()
    {
        if (--t_left == 0)
            throw new InvalidOperationException("Beyond the limit: steps");
    }
}

/// <summary>Compared by its members; each visit counts.</summary>
[GenerateSerializer]
public sealed class Visited : IComparable
{
    [Id(0)]
    public object? One { get; set; }

    [Id(1)]
    public object? Two { get; set; }

    public int CompareTo(object? obj)
    {
        Steps.Count();
        return obj is not Visited other ? 1 : Compare(One, other.One) is var first and not 0 ? first : Compare(Two, other.Two);
    }

    public override bool Equals(object? obj)
    {
        Steps.Count();
        return obj is Visited other && Equals(One, other.One) && Equals(Two, other.Two);
    }

    public override int GetHashCode()
    {
        Steps.Count();
        return ((One?.GetHashCode() ?? 0) * 31) + (Two?.GetHashCode() ?? 0);
    }

    private static int Compare(object? one, object? two) => one is Visited visited ? visited.CompareTo(two)
        : string.CompareOrdinal(one?.GetType().Name, two?.GetType().Name);
}

[GenerateSerializer]
public sealed class TalkingException(string message, Exception? inner) : Exception(message, inner)
{
    [Id(0)]
    public object? Subject { get; set; }

    [Id(1)]
    public Linked? Chain { get; set; }

    /// <summary>Its sender is silent of the chain, which may have no end.</summary>
    public override string Message => base.Message + " about " + (Steps.IsCounting ? Chain?.ToString() : "");
}
