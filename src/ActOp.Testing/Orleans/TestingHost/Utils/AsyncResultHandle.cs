namespace Orleans.TestingHost.Utils;

/// <summary>What a callback has told a test so far. The callback sets it, the test polls it.</summary>
public class AsyncResultHandle
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    private volatile bool _done;
    private volatile bool _continue;

    /// <summary>The callback has done its work.</summary>
    public bool Done
    {
        get => _done;
        set => _done = value;
    }

    /// <summary>The test may go on to its next step.</summary>
    public bool Continue
    {
        get => _continue;
        set => _continue = value;
    }

    /// <summary>What has gone wrong, or null.</summary>
    public Exception? Exception { get; set; }

    /// <summary>What the callback has got, or null.</summary>
    public object? Result { get; set; }

    /// <summary>As if it were new.</summary>
    public virtual void Reset()
    {
        Exception = null;
        Result = null;
        _done = false;
        _continue = false;
    }

    /// <summary>Waits for <see cref="Done"/>. False if it is not set in time.</summary>
    public Task<bool> WaitForFinished(TimeSpan timeout) => WaitFor(timeout, () => _done);

    /// <summary>Waits for <see cref="Continue"/>. False if it is not set in time.</summary>
    public Task<bool> WaitForContinue(TimeSpan timeout) => WaitFor(timeout, () => _continue);

    /// <summary>Waits until <paramref name="checkFlag"/> is true. False if it is not in time.</summary>
    public async Task<bool> WaitFor(TimeSpan timeout, Func<bool> checkFlag)
    {
        ArgumentNullException.ThrowIfNull(checkFlag);
        var began = TimeProvider.System.GetTimestamp();
        while (!checkFlag())
        {
            if (TimeProvider.System.GetElapsedTime(began) > timeout)
                return false;
            await Task.Delay(Pause, TimeProvider.System).ConfigureAwait(false);
        }

        return true;
    }
}
