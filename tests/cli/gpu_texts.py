"""Short PTX and SASS, with FILE as a placeholder for the kernel's file."""

PTX = """.visible .entry _Zlong(
)
{
\t.loc\t1 7 0
\tmov.u32 \t%r1, %tid.x;
\tret;
}
\t.file\t1 "FILE"
"""
SASS = """
\t//## File "FILE", line 7
/*0000*/ S2R R1, SR_TID.X ;
\t//## File "FILE", line 8
/*0010*/ FFMA R0, R1, R2, R3 ;
/*0020*/ EXIT ;
"""
