namespace ActOp.Staging.Measuring;

/// <summary>
/// The paper's estimate (section 5.4) from wall-clock and processor time alone: the ratio of ready time to processor time, alpha, is the
/// same for all threads and is seen where nothing blocks; elsewhere r = alpha x and w = z - x - r.
/// </summary>
/// <param name="neverBlocks">For each stage whether its events never block; at least one must not.</param>
public sealed class RatioSource(IReadOnlyList<bool> neverBlocks) : SampledSource
{
    private double _alpha;

    /// <inheritdoc/>
    public override string Name => "ratio";

    /// <inheritdoc/>
    protected override double[] Blocked(BusyTime[] busy)
    {
        double[] ratios = [.. busy.Where((stage, i) => neverBlocks[i] && stage.Cpu > 0).Select(static stage => (double)(stage.Wall - stage.Cpu) / stage.Cpu)];
        if (ratios.Length > 0)
            _alpha = Math.Max(0, ratios.Average());
        return [.. busy.Select((stage, i) => neverBlocks[i] ? 0 : stage.Wall - ((1 + _alpha) * stage.Cpu))];
    }
}
