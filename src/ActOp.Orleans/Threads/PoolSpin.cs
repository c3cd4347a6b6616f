using System.Globalization;

namespace ActOp.Orleans.Threads;

/// <summary>
/// How often an idle thread of the pool looks for work before it sleeps, <see cref="ThreadOptions.SpinLimit"/>. It belongs to the process:
/// .NET reads it once, when the pool needs its first thread, so it is set while a silo is put together.
/// </summary>
/// <param name="Limit">What is in effect by this package; null if it was left as it is.</param>
/// <param name="IsLate">Whether the pool had threads already.</param>
internal sealed record PoolSpin(int? Limit, bool IsLate)
{
    private const string Setting = "System.Threading.ThreadPool.UnfairSemaphoreSpinLimit";
    private const string Variable = "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit";

    /// <summary>Sets the limit, unless the host has done so.</summary>
    internal static PoolSpin Set(ThreadOptions options)
    {
        // A value that is out of range is refused at the start of the silo.
        if (!options.Enabled || options.SpinLimit is not (>= 0 and <= short.MaxValue and var wanted)
            || Environment.GetEnvironmentVariable(Variable) is not null)
        {
            return new PoolSpin(null, IsLate: false);
        }

        var limit = wanted.ToString(CultureInfo.InvariantCulture);
        // The second silo of a process finds what the first one has set.
        if (AppContext.GetData(Setting) is { } present)
            return new PoolSpin(present as string == limit ? wanted : null, IsLate: false);
        if (DotNetPool.HasBegun)
            return new PoolSpin(null, IsLate: true);
        AppContext.SetData(Setting, limit);
        return new PoolSpin(wanted, IsLate: false);
    }
}
