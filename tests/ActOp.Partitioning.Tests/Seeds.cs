using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Partitioning.Tests;

/// <summary>Runs a property over many seeds; the failing seed is in the message and replays the case.</summary>
internal static class Seeds
{
    public static void ForEach(int cases, Action<Random> property) =>
        Check.One(
            Config.QuickThrowOnFailure.WithMaxTest(cases),
            Prop.ForAll(Gen.Choose(0, int.MaxValue).ToArbitrary(), seed => property(new Random(seed))));
}
