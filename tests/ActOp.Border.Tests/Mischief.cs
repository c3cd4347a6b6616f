using ActOp.TestClusters;

namespace ActOp.Border.Tests;

/// <summary>What code of the application does wrong.</summary>
public enum Deed
{
    /// <summary>Throws at once.</summary>
    Throws,

    /// <summary>Its task fails later.</summary>
    Fails,

    /// <summary>Its task does not end before the test is over.</summary>
    Hangs,

    /// <summary>Returns null, as a task or as a value.</summary>
    ReturnsNull,

    /// <summary>Returns a value that belongs to nobody, or is of another type.</summary>
    ReturnsForeign,

    /// <summary>Does not do what it is there for.</summary>
    DoesNothing,

    /// <summary>Does it twice.</summary>
    ActsTwice,
}

/// <summary>
/// Says which callback does what wrong now. One at a time: the callbacks of the suite belong to its own cluster, and its tests run one
/// after the other.
/// </summary>
internal sealed class Mischief : IDisposable
{
    internal const string Word = "mischief";

    private static volatile Mischief? s_planned;

    private readonly string _callback;
    private readonly Deed _deed;
    private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _acted = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Mischief(string callback, Deed deed) => (_callback, _deed) = (callback, deed);

    /// <summary>Completes when the callback has been called.</summary>
    internal Task Acted => _acted.Task;

    internal static Mischief Plan(string callback, Deed deed) => s_planned = new Mischief(callback, deed);

    /// <summary>What the callback is to do; null if it is to do its work.</summary>
    internal static Deed? DeedOf(string callback)
    {
        if (s_planned is not { } planned || planned._callback != callback)
            return null;
        planned._acted.TrySetResult();
        return planned._deed;
    }

    /// <summary>What some callback is to do, without saying that it was called.</summary>
    internal static Deed? PlannedDeed => s_planned?._deed;

    internal static bool IsPlanned(string callback) => s_planned?._callback == callback;

    /// <summary>A callback that ends at once: whether it does its work.</summary>
    internal static bool Does(string callback)
    {
        Act(callback);
        return DeedOf(callback) is null;
    }

    /// <summary>Blocks the thread until the test is over, or for a minute.</summary>
    internal static bool Hold()
    {
        s_planned?._held.Task.Wait(Gate.Patience);
        return false;
    }

    /// <summary>A callback that ends at once.</summary>
    internal static void Act(string callback)
    {
        if (DeedOf(callback) is Deed.Throws)
            throw new FormatException(Word);
    }

    /// <summary>A callback with a task.</summary>
    internal static Task ActAsync(string callback)
    {
        var planned = s_planned;
        return DeedOf(callback) switch
        {
            Deed.Throws => throw new FormatException(Word),
            Deed.Fails => FailAsync(),
            Deed.Hangs => planned!._held.Task,
            Deed.ReturnsNull => null!,
            _ => Task.CompletedTask,
        };
    }

    /// <summary>A callback with a value.</summary>
    internal static Task<T> ActAsync<T>(string callback, Func<T> right, Func<T>? foreign = null)
    {
        var planned = s_planned;
        return DeedOf(callback) switch
        {
            Deed.Throws => throw new FormatException(Word),
            Deed.Fails => FailAsync<T>(),
            Deed.Hangs => HoldAsync(planned!._held.Task, right),
            Deed.ReturnsNull => null!,
            Deed.DoesNothing => Task.FromResult<T>(default!),
            Deed.ReturnsForeign => Task.FromResult(foreign!()),
            _ => Task.FromResult(right()),
        };
    }

    public void Dispose()
    {
        s_planned = null;
        _held.TrySetResult();
    }

    private static async Task<T> HoldAsync<T>(Task held, Func<T> right)
    {
        await held;
        return right();
    }

    private static async Task FailAsync()
    {
        await Task.Yield();
        throw new FormatException(Word);
    }

    private static async Task<T> FailAsync<T>()
    {
        await FailAsync();
        return default!;
    }
}
