namespace Heartbeat.Grains;

/// <summary>Stands for synchronous input and output in old code: the thread waits and uses no processor (paper section 5.2).</summary>
public static class Blocking
{
    /// <summary>Blocks the calling thread; 0 does nothing.</summary>
    public static void Wait(double milliseconds)
    {
        if (milliseconds > 0)
            Thread.Sleep(TimeSpan.FromMilliseconds(milliseconds));
    }
}
