using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace ActOp;

/// <summary>Checks of what is always true. Tests and the simulator run with them, production does not (record 0077).</summary>
/// <remarks>
/// The file is compiled into each assembly of <c>src</c>, because not all of them reference each other. While the switch is off, the
/// compiler at run time removes the checks, and conditions without side effects with them. So a condition has none, calls nothing that
/// is not inlined, and is not a loop: those stand in <c>if (Invariant.AreChecked)</c>.
/// </remarks>
internal static class Invariant
{
    /// <summary>The switch of <see cref="AppContext"/>.</summary>
    internal const string Switch = "ActOp.Invariants";

    /// <summary>
    /// The name in <see cref="AppContext"/> of an <see cref="Action{T}"/> that takes the text of a failed check. All assemblies share it.
    /// Without one, a failed check ends the process: no border that catches exceptions may hide it.
    /// </summary>
    internal const string Handler = "ActOp.Invariants.Handler";

    /// <summary>Whether checks run in this process.</summary>
    internal static readonly bool AreChecked = AppContext.TryGetSwitch(Switch, out var isOn) && isOn;

    /// <summary>States what is true here, whatever happened before.</summary>
    /// <exception cref="Exception">It is not, and a handler has been told.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Holds(
        bool condition, [CallerArgumentExpression(nameof(condition))] string text = "", [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        if (AreChecked && !condition)
            Fail(text, file, line);
    }

    /// <summary>States that this thread is in a lock.</summary>
    /// <exception cref="Exception">It is not, and a handler has been told.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Held(
        Lock gate, [CallerArgumentExpression(nameof(gate))] string text = "", [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        if (AreChecked && !gate.IsHeldByCurrentThread)
            Fail("held: " + text, file, line);
    }

    /// <summary>As <see cref="Held"/>, for an object that threads also wait for.</summary>
    /// <exception cref="Exception">This thread is not in the lock, and a handler has been told.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Entered(
        object gate, [CallerArgumentExpression(nameof(gate))] string text = "", [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        if (AreChecked && !Monitor.IsEntered(gate))
            Fail("entered: " + text, file, line);
    }

    /// <summary>States that this thread is in none of the sections of a lock.</summary>
    /// <exception cref="Exception">It is, and a handler has been told.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void NotHeld(
        Lock gate, [CallerArgumentExpression(nameof(gate))] string text = "", [CallerFilePath] string file = "",
        [CallerLineNumber] int line = 0)
    {
        if (AreChecked && gate.IsHeldByCurrentThread)
            Fail("not held: " + text, file, line);
    }

    [DoesNotReturn, MethodImpl(MethodImplOptions.NoInlining), StackTraceHidden]
    private static void Fail(string text, string file, int line)
    {
        var failure = "An invariant does not hold: " + text + " (" + file[(file.LastIndexOfAny(['/', '\\']) + 1)..] + ":" + line + ")";
        if (AppContext.GetData(Handler) is not Action<string> handler)
            Environment.FailFast(failure);
        else
            handler(failure);
        throw new FailedException(failure);
    }

    /// <summary>
    /// A check has failed. Whoever catches it hides nothing: it was reported before it was thrown. Private, because each assembly has its
    /// own, and generated code of those that see several would name them all.
    /// </summary>
    private sealed class FailedException(string message) : Exception(message);
}
