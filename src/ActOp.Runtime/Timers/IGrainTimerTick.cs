namespace ActOp.Runtime.Timers;

/// <summary>The method that a tick calls; filters see it by this name.</summary>
internal interface IGrainTimerTick
{
    Task InvokeCallbackAsync();
}
