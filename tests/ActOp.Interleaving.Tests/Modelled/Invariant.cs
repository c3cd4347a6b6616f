namespace ActOp;

/// <summary>A check that fails is a finding of the schedule.</summary>
internal static class Invariant
{
    public const bool AreChecked = true;

    public static void Holds(bool condition, [System.Runtime.CompilerServices.CallerArgumentExpression(nameof(condition))] string text = "")
    {
        if (!condition)
            throw new InvalidOperationException("An invariant does not hold: " + text);
    }

    public static void Held(Lock gate, [System.Runtime.CompilerServices.CallerArgumentExpression(nameof(gate))] string text = "") =>
        Holds(gate.IsHeldByCurrentThread, text);

    public static void NotHeld(Lock gate, [System.Runtime.CompilerServices.CallerArgumentExpression(nameof(gate))] string text = "") =>
        Holds(!gate.IsHeldByCurrentThread || !ActOp.Interleaving.Tests.Exploring.Interleaver.IsModelled, text);
}
