using ActOp.Staging.Model;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Staging.Tests.Model;

/// <summary>Random servers: some stages that together need 5 to 95 % of the processors.</summary>
internal sealed record Demands(double Processors, double Penalty, StageDemand[] Stages)
{
    private static readonly Gen<double> Unit = Gen.Choose(0, 1_000_000).Select(static number => number / 1e6);

    internal static Arbitrary<Demands> Feasible { get; } = OfUpTo(4);

    internal static Arbitrary<Demands> OfUpTo(int stages) => Arb.From(
        from count in Gen.Choose(1, stages)
        from processors in Gen.Choose(1, 16)
        from penalty in Between(1e-6, 1e-3)
        from load in Gen.Choose(5, 95)
        from drawn in Gen.ArrayOf(Stage, count)
        select Scaled(processors, penalty, load / 100.0, drawn));

    private static Gen<StageDemand> Stage =>
        from arrivals in Between(1, 1e5)
        from compute in Between(1e-6, 1e-2)
        from isBlocking in Gen.Choose(0, 2)
        from ratio in Between(0.1, 20)
        select new StageDemand(arrivals, compute, isBlocking == 0 ? compute * ratio : 0);

    // As many small numbers as large ones.
    private static Gen<double> Between(double low, double high) => Unit.Select(unit => low * Math.Pow(high / low, unit));

    private static Demands Scaled(double processors, double penalty, double load, StageDemand[] stages)
    {
        var factor = load * processors / stages.Sum(stage => stage.Processors);
        return new(processors, penalty, Array.ConvertAll(stages, stage => stage with { Arrivals = stage.Arrivals * factor }));
    }
}
